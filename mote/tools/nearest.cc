#include "mote/tools/nearest.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <sstream>

namespace mote::tools {
namespace {

constexpr size_t kMostDigits = 15;  // of a number that is not shortened

std::vector<std::string> subcommands_of(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::App* c : app.get_subcommands([](const CLI::App*) { return true; })) names.push_back(c->get_name());
  return names;
}

// The chosen subcommand, with all options that may stand there.
const CLI::App* innermost(const CLI::App* app, std::vector<std::string>* options) {
  for (;; app = app->get_subcommands().front()) {
    for (const CLI::Option* o : app->get_options())
      for (const std::string& name : o->get_lnames()) options->push_back("--" + name);
    if (app->get_subcommands().empty()) return app;
  }
}

// Numbers of dozens of digits, as limits of a type are printed: "1.79769e+308".
std::string with_short_numbers(const std::string& text) {
  std::string out;
  for (size_t at = 0; at < text.size();) {
    const size_t digits = std::min(text.find_first_not_of("0123456789", at), text.size());
    if (digits - at <= kMostDigits) {
      const size_t next = digits == at ? at + 1 : digits;
      out += text.substr(at, next - at);
      at = next;
      continue;
    }
    char* end = nullptr;
    char shorter[32];
    std::snprintf(shorter, sizeof shorter, "%g", std::strtod(text.c_str() + at, &end));
    out += shorter;
    at = static_cast<size_t>(end - text.c_str());
  }
  return out;
}

// CLI11's "--emit: cp not in {mote,cpp}".
std::string member_suggestion(const std::string& text) {
  const size_t in = text.find(" not in {"), end = text.find('}', in);
  const size_t begin = in == std::string::npos ? in : text.rfind(": ", in);
  if (begin == std::string::npos || end == std::string::npos) return "";
  std::vector<std::string> known;
  std::istringstream list(text.substr(in + 9, end - in - 9));
  for (std::string word; std::getline(list, word, ',');) known.push_back(word);
  return did_you_mean(text.substr(begin + 2, in - begin - 2), known);
}

}  // namespace

std::string usage_text(const CLI::App* app, const CLI::Error& error) {
  std::string text = with_short_numbers(error.what());
  if (error.get_exit_code() != static_cast<int>(CLI::ExitCodes::ExtrasError)) return text + member_suggestion(text);
  std::vector<std::string> options;
  const CLI::App* chosen = innermost(app, &options);
  std::istringstream extras(text.substr(std::min(text.size(), text.find(": ") + 1)));
  for (std::string extra; extras >> extra;) {
    const bool option = extra.size() > 1 && extra[0] == '-';
    const std::string word = option ? extra.substr(0, extra.find('=')) : extra;
    text += did_you_mean(word, option ? options : subcommands_of(*chosen));
  }
  return text;
}

std::string unknown_subcommand(const CLI::App& app, int argc, const char* const* argv) {
  const CLI::App* at = &app;
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    const std::vector<std::string> names = subcommands_of(*at);
    if (names.empty()) return "";
    if (word.empty() || word[0] == '-') {
      // An option's value may stand in front of a command (`fleet --dir DIR init`) and is none itself.
      const CLI::Option* option = word.empty() ? nullptr : at->get_option_no_throw(word);
      if (word == "--plugin" || (option != nullptr && option->get_items_expected_max() > 0)) ++i;
      continue;
    }
    if (std::find(names.begin(), names.end(), word) == names.end())
      return "there is no command '" + (at == &app ? "" : at->get_name() + " ") + word + "'" + did_you_mean(word, names);
    at = at->get_subcommand(word);
  }
  return "";
}

}  // namespace mote::tools
