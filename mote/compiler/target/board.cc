#include "mote/compiler/target/board.h"

#include <cmath>

#include "mote/compiler/target/target.h"
#include "mote/compiler/target/toml.h"

namespace mote::target {
namespace {

constexpr size_t kMostBanks = 16;

class Reader {
 public:
  Reader(Board* board, std::string* error) : board_(*board), error_(*error) {}

  bool entry(const TomlEntry& e) {
    const std::string where = "line " + std::to_string(e.line) + ": the key '" + e.key + "'";
    if (e.table.empty()) {
      if (e.key == "format") return number(e, where, 1, 1) && (format_ = true);
    } else if (e.table == "board") {
      if (e.key == "core") return core(e, where);
      if (e.key == "flash_bytes") return number(e, where, 0, 1e12) && (board_.flash_bytes = static_cast<uint64_t>(e.number), true);
      if (e.key == "alignment") return alignment(e, where);
    } else {
      return bank(e, where);
    }
    return fail(where + (e.table.empty() ? "" : " of [" + e.table + "]") + " is not known to this version of mote");
  }

  bool finish() {
    if (!format_) return fail("the key 'format' is missing");
    if (board_.core.empty()) return fail("the key 'core' of [board] is missing");
    if (board_.banks.empty()) return fail("expected a bank of memory, such as [sram] with bytes = 65536, found none");
    for (const BoardBank& b : board_.banks)
      if (b.bytes == 0) return fail("the key 'bytes' of [" + b.name + "] is missing");
    return true;
  }

 private:
  bool fail(const std::string& what) {
    error_ = what;
    return false;
  }
  bool number(const TomlEntry& e, const std::string& where, double least, double most) {
    if (!e.is_string && e.number >= least && e.number <= most && e.number == std::floor(e.number)) return true;
    return fail(where + ": expected a whole number from " + std::to_string(static_cast<uint64_t>(least)) + " to " +
                std::to_string(static_cast<uint64_t>(most)));
  }
  bool core(const TomlEntry& e, const std::string& where) {
    const Target* t = e.is_string ? named(e.string) : nullptr;
    if (t == nullptr || !is_microcontroller(*t))
      return fail(where + ": expected cortex-m0plus, cortex-m4, cortex-m7, cortex-m33 or cortex-m55, found " +
                  (e.is_string ? toml_string(e.string) : "a number"));
    board_.core = e.string;
    return true;
  }
  bool alignment(const TomlEntry& e, const std::string& where) {
    if (!number(e, where, 16, 4096)) return false;
    board_.alignment = static_cast<uint32_t>(e.number);
    return (board_.alignment & (board_.alignment - 1)) == 0 || fail(where + ": expected a power of two");
  }
  bool bank(const TomlEntry& e, const std::string& where) {
    if (board_.banks.empty() || board_.banks.back().name != e.table) {
      if (board_.banks.size() == kMostBanks) return fail(where + ": expected at most " + std::to_string(kMostBanks) + " banks");
      board_.banks.push_back({e.table, "", 0});
    }
    BoardBank& b = board_.banks.back();
    if (e.key == "bytes") return number(e, where, 16, 4294967295.0) && (b.bytes = static_cast<uint64_t>(e.number), true);
    if (e.key != "section") return fail(where + " of [" + e.table + "]: a bank has 'bytes' and 'section'");
    if (!e.is_string || e.string.empty() || e.string.find_first_of("\"\\\n") != std::string::npos)
      return fail(where + ": expected the name of a section, such as \".dtcm\"");
    b.section = e.string;
    return true;
  }

  Board& board_;
  std::string& error_;
  bool format_ = false;
};

}  // namespace

bool is_board(const std::string& text) { return text.find("[board]") != std::string::npos; }

bool board_from_text(const std::string& text, Board* out, std::string* error) {
  std::vector<TomlEntry> entries;
  Board board;
  if (!parse_toml(text, &entries, error)) return false;
  Reader reader(&board, error);
  for (const TomlEntry& e : entries)
    if (!reader.entry(e)) return false;
  if (!reader.finish()) return false;
  *out = board;
  return true;
}

}  // namespace mote::target
