#include "mote/tools/explain.h"

#include <cctype>
#include <cstdlib>

#include "mote/core/status.h"

namespace mote::tools {
namespace {

struct Words {
  const char* name;
  const char* cause;
  const char* remedy;
};
#define EXPLAIN_WHY(name, cause, remedy)
#define EXPLAIN_STATUS(name, cause, remedy) {#name, cause, remedy},
constexpr Words kStatusWords[] = {
#include "mote/tools/explain.def"
};
#undef EXPLAIN_WHY
#undef EXPLAIN_STATUS
#define EXPLAIN_STATUS(name, cause, remedy)
#define EXPLAIN_WHY(name, cause, remedy) {#name, cause, remedy},
constexpr Words kWhyWords[] = {
#include "mote/tools/explain.def"
};
#undef EXPLAIN_WHY
#undef EXPLAIN_STATUS

template <size_t N>
Explanation find_words(const char* kind, uint32_t number, const char* name, const char* text, const Words (&words)[N]) {
  for (const Words& w : words)
    if (std::string(w.name) == name) return {kind, number, name, text, w.cause, w.remedy};
  return {kind, number, name, text, "", ""};
}

std::string folded(const std::string& s) {
  std::string out;
  for (const char c : s)
    if (std::isalnum(static_cast<unsigned char>(c)) != 0) out += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return out;
}

}  // namespace

const std::vector<Explanation>& all_explanations() {
  static const std::vector<Explanation> all = {
#define MOTE_STATUS(value, name, text) find_words("status", value, #name, text, kStatusWords),
#include "mote/core/status.def"
#undef MOTE_STATUS
#define MOTE_WHY(value, name, text) find_words("reason", value, #name, text, kWhyWords),
#include "mote/core/why.def"
#undef MOTE_WHY
  };
  return all;
}

std::vector<Explanation> explain(const std::string& code) {
  std::vector<Explanation> found;
  char* end = nullptr;
  const unsigned long value = std::strtoul(code.c_str(), &end, 0);
  const bool is_number = !code.empty() && *end == 0 && std::isdigit(static_cast<unsigned char>(code[0])) != 0;
  // "Io/FileOpen" names both parts.
  const size_t slash = code.find('/');
  const std::string first = folded(code.substr(0, slash)), second = slash == std::string::npos ? "" : folded(code.substr(slash + 1));
  for (const Explanation& e : all_explanations()) {
    const bool status = e.kind == "status";
    bool matches;
    if (!is_number) matches = folded(e.name) == first || (!second.empty() && folded(e.name) == second);
    else if (value > 999) matches = e.number == (status ? value & 0xff : value >> 8 & 0xffff);
    else matches = e.number == value;
    // A plain 0 is success, not the absence of a reason.
    if (matches && !(is_number && !status && e.number == 0)) found.push_back(e);
  }
  return found;
}

}  // namespace mote::tools
