// Changes to the archives of torch.export: their JSON texts, token by token; the archive around them stays whole most of the time.

#include <algorithm>
#include <cctype>
#include <cstring>
#include <string>

#include "mote/compiler/frontends/common/zip.h"
#include "tests/fuzz_models/mutate_model.h"

namespace mote::fuzz {
namespace {

constexpr size_t kMostText = 1u << 20;
constexpr const char* kTokens[] = {
    "0",     "-1",  "2",    "3",    "7",     "64",   "4096", "65536", "2147483648", "9223372036854775807", "-9223372036854775808",
    "1e300", "0.5", "null", "true", "false", "\"\"", "[]",   "{}",    "\"s0\"",     "99999999999999999999"};

struct Entry {
  std::string name, contents;
};

struct Token {
  size_t begin, size;
};

// Strings, numbers and words of a JSON text; marks are not among them.
std::vector<Token> tokens_of(const std::string& text) {
  std::vector<Token> all;
  for (size_t i = 0; i < text.size();) {
    const size_t begin = i;
    if (text[i] == '"') {
      for (++i; i < text.size() && text[i] != '"'; ++i) i += text[i] == '\\';
      i = std::min(i + 1, text.size());
      all.push_back({begin, i - begin});
    } else if (std::isalnum(static_cast<unsigned char>(text[i])) != 0 || text[i] == '-') {
      while (i < text.size() && (std::isalnum(static_cast<unsigned char>(text[i])) != 0 || std::strchr("+-.", text[i]) != nullptr)) ++i;
      all.push_back({begin, i - begin});
    } else {
      ++i;
    }
  }
  return all;
}

// One token becomes another of the same text, a special one, or nothing.
void mutate_text(std::string& text, Dice& dice) {
  const std::vector<Token> tokens = tokens_of(text);
  if (tokens.empty()) return;
  const Token at = tokens[dice.raw() % tokens.size()];
  const bool name = text[at.begin] == '"';
  std::string put;
  if (dice.chance(name ? 90 : 50)) {
    // One of the same kind.
    Token from = tokens[dice.raw() % tokens.size()];
    for (int attempt = 0; attempt < 32 && (text[from.begin] == '"') != name; ++attempt) from = tokens[dice.raw() % tokens.size()];
    put = text.substr(from.begin, from.size);
  } else if (dice.chance(95)) {
    put = kTokens[dice.below(std::size(kTokens))];
  }
  text.replace(at.begin, at.size, put);
}

void put_number(ModelBytes& out, uint64_t v, int bytes) {
  for (int i = 0; i < bytes; ++i) out.push_back(static_cast<uint8_t>(i < 8 ? v >> 8 * i : 0));
}

// Nothing packed, no checksums: readers of models do not ask for them.
ModelBytes write_zip(const std::vector<Entry>& entries) {
  ModelBytes out, directory;
  const auto common = [](ModelBytes& to, const Entry& e) {
    put_number(to, 20, 2);
    put_number(to, 0, 12);  // flags, stored, time, date, checksum
    put_number(to, e.contents.size(), 4);
    put_number(to, e.contents.size(), 4);
    put_number(to, e.name.size(), 2);
    put_number(to, 0, 2);
  };
  for (const Entry& e : entries) {
    const size_t offset = out.size();
    put_number(out, 0x04034b50, 4);
    common(out, e);
    out.insert(out.end(), e.name.begin(), e.name.end());
    out.insert(out.end(), e.contents.begin(), e.contents.end());
    put_number(directory, 0x02014b50, 4);
    put_number(directory, 20, 2);
    common(directory, e);
    put_number(directory, 0, 10);  // comment, disk, attributes
    put_number(directory, offset, 4);
    directory.insert(directory.end(), e.name.begin(), e.name.end());
  }
  const size_t begin = out.size();
  out.insert(out.end(), directory.begin(), directory.end());
  put_number(out, 0x06054b50, 4);
  put_number(out, 0, 4);
  put_number(out, entries.size(), 2);
  put_number(out, entries.size(), 2);
  put_number(out, directory.size(), 4);
  put_number(out, begin, 4);
  put_number(out, 0, 2);
  return out;
}

}  // namespace

void mutate_pt2(ModelBytes& bytes, Dice& dice) {
  const ir::Bytes file = ir::Bytes::copy_of(bytes.data(), bytes.size());
  std::vector<Entry> entries;
  std::vector<size_t> texts;
  for (const frontends::ZipEntry& e : frontends::read_zip(file)) {
    std::string contents;
    if (!frontends::unpack(e, kMostText, &contents)) continue;
    if (e.name.size() > 5 && e.name.substr(e.name.size() - 5) == ".json") texts.push_back(entries.size());
    entries.push_back({std::string(e.name), std::move(contents)});
  }
  if (texts.empty() || dice.chance(5)) return mutate_bytes(bytes, dice);
  for (uint32_t i = 0, n = 1 + dice.below(4); i < n; ++i) {
    // The larger a text, the more there is to change.
    size_t at = texts[dice.raw() % texts.size()];
    for (const size_t other : texts)
      if (entries[other].contents.size() > entries[at].contents.size() && dice.chance(80)) at = other;
    mutate_text(entries[at].contents, dice);
  }
  if (dice.chance(2)) entries.erase(entries.begin() + static_cast<long>(dice.raw() % entries.size()));
  bytes = write_zip(entries);
  if (dice.chance(5)) mutate_bytes(bytes, dice);
}

}  // namespace mote::fuzz
