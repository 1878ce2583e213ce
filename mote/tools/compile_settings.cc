#include "mote/tools/compile_settings.h"

#include <algorithm>
#include <cctype>
#include <cstring>
#include <filesystem>
#include <limits>

#include "mote/platform/cpu.h"
#include "mote/tools/audio_settings.h"
#include "mote/tools/failure.h"
#include "mote/tools/nearest.h"
#include "mote/tools/target_file.h"

namespace mote::tools {
namespace {

// All of the text as a number of at least `least`.
bool parse_number(const std::string& text, int64_t least, int64_t most, int64_t* out) {
  if (text.empty() || text.size() > 18) return false;
  int64_t v = 0;
  for (const char c : text) {
    if (c < '0' || c > '9') return false;
    v = v * 10 + (c - '0');
  }
  *out = v;
  return v >= least && v <= most;
}

// "NAME=VALUE". Names may hold '=' themselves: the last one counts.
std::pair<std::string, std::string> split(const std::string& option, const std::string& text, const char* expected) {
  const size_t at = text.rfind('=');
  if (at == std::string::npos || at == 0) throw usage(option + ": expected " + expected + ", found '" + text + "'");
  return {text.substr(0, at), text.substr(at + 1)};
}

ir::Dims parse_shape(const std::string& text, const std::string& all) {
  ir::Dims dims;
  if (text == "scalar") return dims;
  for (size_t at = 0; at <= text.size();) {
    const size_t end = std::min(text.find('x', at), text.size());
    int64_t v;
    if (!parse_number(text.substr(at, end - at), 0, std::numeric_limits<int32_t>::max(), &v) || dims.size() == kMaxRank)
      throw usage("--shape: expected INPUT=1x3x224x224 (up to 8 sizes) or INPUT=scalar, found '" + all + "'");
    dims.push_back(static_cast<int32_t>(v));
    at = end + 1;
  }
  return dims;
}

frontends::DimRange parse_range(const std::string& text, const std::string& all) {
  const size_t dots = text.find("..");
  int64_t min, max;
  const std::string low = text.substr(0, dots), high = dots == std::string::npos ? low : text.substr(dots + 2);
  constexpr int64_t kMost = std::numeric_limits<int32_t>::max();
  // Sizes are at least 1; sequences may be empty, optionals absent, and values 0.
  const std::string name = all.substr(0, all.find('='));
  const bool counts =
      name.find(".present") != std::string::npos || name.find(".length") != std::string::npos || name.find(']') != std::string::npos;
  const int64_t least = counts ? 0 : 1;
  if (!parse_number(low, 0, kMost, &min) || !parse_number(high, least, kMost, &max) || min > max)
    throw usage("--dim: expected NAME=MIN..MAX or NAME=SIZE, found '" + all + "'");
  return {static_cast<int32_t>(min), static_cast<int32_t>(max)};
}

// One word of a shell's command line.
std::string quoted(const std::string& word) {
  bool plain = !word.empty();
  for (const char c : word) plain = plain && (std::isalnum(static_cast<unsigned char>(c)) != 0 || std::strchr("_-./:=+,", c) != nullptr);
  if (plain) return word;
  std::string s = "'";
  for (const char c : word) s += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return s + "'";
}

// "a, b, c"
std::vector<std::string> split_list(const std::string& text) {
  std::vector<std::string> words(1);
  for (const char c : text) {
    if (c == ',') words.emplace_back();
    else if (c != ' ') words.back() += c;
  }
  return words;
}

// Splits what words_of() joined.
std::vector<std::string> split_words(const std::string& text) {
  std::vector<std::string> words;
  bool open = false, in_word = false;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (!open && c == ' ') {
      in_word = false;
      continue;
    }
    if (!in_word) words.emplace_back();
    in_word = true;
    if (c == '\'') open = !open;
    else if (!open && c == '\\' && i + 1 < text.size()) words.back() += text[++i];
    else words.back() += c;
  }
  return words;
}

}  // namespace

uint64_t parse_bytes(const std::string& option, const std::string& text) {
  std::string digits = text;
  uint64_t unit = 1;
  if (!digits.empty()) {
    const char last = static_cast<char>(std::tolower(static_cast<unsigned char>(digits.back())));
    unit = last == 'k' ? 1u << 10 : last == 'm' ? 1u << 20 : last == 'g' ? 1u << 30 : 1;
    if (unit > 1) digits.pop_back();
  }
  int64_t v;
  if (!parse_number(digits, 1, std::numeric_limits<int64_t>::max() / static_cast<int64_t>(unit), &v))
    throw usage(option + ": expected a number of bytes such as 65536, 64k or 1M, found '" + text + "'");
  return static_cast<uint64_t>(v) * unit;
}

void add_compile_options(CLI::App* c, CompileSettings* s) {
  c->add_option("--shape", s->shapes, "fix an input's shape, INPUT=1x3x224x224; once for each")->allow_extra_args(false);
  c->add_option("--dim", s->dims, "bound a dimension the model leaves open, NAME=MIN..MAX or NAME=SIZE; an unnamed one is INPUT.AXIS")
      ->allow_extra_args(false);
  c->add_flag("--no-fuse", s->no_fuse, "keep one operator for each of the model's");
  c->add_flag("--no-optimize", s->no_optimize, "only what is needed to run at all");
  c->add_flag("--exact", s->exact, "nothing that changes rounding");
  c->add_flag("--no-winograd", s->no_winograd, "3x3 convolutions keep their weights' size (Winograd's form has four times as many)");
  c->add_option("--max-trips", s->max_trips, "bound for loops whose number of trips the model does not bound")->check(CLI::PositiveNumber);
  c->add_option("--target", s->target,
                "machine to compile for: a description that 'mote measure' wrote, a board's banks (docs/tinyml.md), or " + target::names());
  c->add_option("--strips", s->strips,
                "run chains of layers in strips, so that large tensors between them never exist whole: auto (default: where the target "
                "takes no longer), off, min-memory (alone: min-memory)")
      ->expected(0, 1)
      ->default_str("min-memory")
      ->check(CLI::IsMember({"auto", "off", "min-memory"}));
  c->add_option("--ram", s->ram, "bytes of memory to aim at, such as 64k: strips where they are needed for that");
  c->add_option("--bank", s->banks, "a memory bank, NAME=SIZE, the fastest first; once for each")->allow_extra_args(false);
  c->add_flag("--io-in-arena", s->io_in_arena,
              "inputs and outputs lie in the planned memory too and share it: fill and fetch them in place; a run may overwrite inputs");
  c->add_option(
       "--io", s->io,
       "int8: inputs and outputs of a quantized model that are f32 become 8-bit numbers, whose scale and zero point the program and "
       "the header tell; model: as the model has them (default)")
      ->check(CLI::IsMember({"model", "int8"}));
  add_audio_options(c, &s->audio, &s->streaming);
  c->add_option("--alignment", s->alignment, "of segments in the file: 16384 for mapping (default), 64 for flash")
      ->check(CLI::IsMember({16, 32, 64, 128, 256, 512, 1024, 2048, 4096, 8192, 16384, 32768, 65536}));
  c->add_flag("--strip-names", s->strip_names, "leave out the names of the model's nodes");
}

void ask_for_examples(int count, driver::CompileOptions* options) {
  driver::GoldenOptions& g = options->golden;
  g.count = count;
  g.work = 0;
  if (g.select == nullptr && options->select == nullptr) g.check_macs = 0;  // the portable kernels make them, however long that takes
}

std::string words_of(const CompileSettings& s) {
  std::string text;
  const auto word = [&](const std::string& w) { text += (text.empty() ? "" : " ") + quoted(w); };
  const auto option = [&](const char* name, const std::string& value) {
    word(name);
    word(value);
  };
  for (const std::string& v : s.shapes) option("--shape", v);
  for (const std::string& v : s.dims) option("--dim", v);
  if (s.no_fuse) word("--no-fuse");
  if (s.no_optimize) word("--no-optimize");
  if (s.exact) word("--exact");
  if (s.no_winograd) word("--no-winograd");
  if (s.max_trips > 0) option("--max-trips", std::to_string(s.max_trips));
  if (target::named(s.target) != nullptr) option("--target", s.target);  // files may be elsewhere; what they decide changes no result
  if (s.strips != "auto") option("--strips", s.strips);
  if (!s.ram.empty()) option("--ram", s.ram);
  if (!s.audio.empty()) option("--audio-frontend", s.audio);
  if (!s.streaming.empty()) option("--streaming", s.streaming);
  for (const std::string& v : s.banks) option("--bank", v);
  if (s.io_in_arena) word("--io-in-arena");
  if (s.io != "model") option("--io", s.io);
  if (s.alignment > 0) option("--alignment", std::to_string(s.alignment));
  if (s.strip_names) word("--strip-names");
  return text;
}

CompileSettings settings_of(const std::string& words) {
  CompileSettings s;
  CLI::App app;
  add_compile_options(&app, &s);
  std::vector<std::string> arguments = split_words(words);
  std::reverse(arguments.begin(), arguments.end());  // as CLI11 wants them
  try {
    app.parse(arguments);
  } catch (const CLI::ParseError& e) {
    throw Failure("the options the program was compiled with are not known here: '" + words + "': " + e.what());
  }
  return s;
}

driver::CompileOptions options_of(const CompileSettings& s) {
  driver::CompileOptions o;
  o.select = kernels::select_for(kernels::best_isa(cpu_features()));
  // The least able set that this machine runs is the one that most machines do.
  for (auto i = static_cast<uint8_t>(kernels::Isa::kCount); i-- > 1;)
    if (const auto isa = static_cast<kernels::Isa>(i); kernels::can_run(isa, cpu_features())) o.golden.select = kernels::select_for(isa);
  for (const std::string& text : s.shapes) {
    const auto [name, value] = split("--shape", text, "INPUT=1x3x224x224");
    o.import.shapes[name] = parse_shape(value, text);
  }
  for (const std::string& text : s.dims) {
    const auto [name, value] = split("--dim", text, "NAME=MIN..MAX");
    o.import.dims[name] = parse_range(value, text);
  }
  if (s.max_trips > 0) o.import.max_trips = s.max_trips;
  o.passes.fuse = !s.no_fuse && !s.no_optimize;
  o.passes.optimize = !s.no_optimize;
  o.passes.exact = s.exact;
  if (s.no_winograd) o.passes.winograd = false;
  if (!s.target.empty()) {
    const target::Target* named = target::named(s.target);
    if (named == nullptr && !std::filesystem::exists(s.target))
      throw Failure("--target: expected a description that 'mote measure' wrote, or " + target::names() + "; found '" + s.target + "'" +
                    did_you_mean(s.target, split_list(target::names())));
    const std::optional<target::Board> board = named == nullptr ? load_board(s.target) : std::nullopt;
    o.target = named != nullptr ? *named : board ? *target::named(board->core) : load_target(s.target);
    o.target_name = named != nullptr ? s.target : board ? board->core : o.target.cpu + ", " + o.target.kernels;
    if (board) {
      o.plan.alignment = board->alignment;
      for (const target::BoardBank& b : board->banks) o.plan.banks.push_back({b.name, b.bytes, 0, board->alignment});
    }
  }
  if (target::is_microcontroller(o.target)) {
    o.passes.pack = o.passes.winograd = false;  // forms that take more memory, for wide vectors
    o.write.segment_alignment = 64;             // of flash
    if (o.plan.banks.empty()) o.plan.alignment = 16;
  }
  const bool small = s.strips == "min-memory" || (s.strips == "auto" && !s.ram.empty());
  o.plan.strips = small ? schedule::Strips::kMinMemory : s.strips == "auto" ? schedule::Strips::kAuto : schedule::Strips::kOff;
  if (small) o.passes.winograd = false;  // strips need operators that work row by row
  o.plan.overlap_rows = target::is_microcontroller(o.target) && s.strips != "off";
  o.plan.io_in_arena = s.io_in_arena;
  o.io_int8 = s.io == "int8";
  if (!s.ram.empty()) {
    if (!small) throw usage("--ram needs --strips auto or min-memory");
    o.plan.strip_ram = parse_bytes("--ram", s.ram);
  }
  for (const std::string& text : s.banks) {
    const auto [name, value] = split("--bank", text, "NAME=SIZE");
    schedule::Bank bank;
    bank.name = name;
    bank.limit = parse_bytes("--bank", value);
    o.plan.banks.push_back(bank);
  }
  if (s.alignment > 0) o.write.segment_alignment = s.alignment;
  o.strip_names = s.strip_names;
  o.attach = audio_front_end(s.audio, s.streaming);
  o.options_text = words_of(s);
  return o;
}

}  // namespace mote::tools
