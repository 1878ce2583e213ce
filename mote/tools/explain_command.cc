#include <cstdio>

#include "mote/tools/commands.h"
#include "mote/tools/explain.h"
#include "mote/tools/json_out.h"
#include "mote/tools/nearest.h"

namespace mote::tools {
namespace {

void print_explanations(const std::string& code, bool json) {
  const std::vector<Explanation> found = explain(code);
  if (found.empty()) {
    std::vector<std::string> names;
    for (const Explanation& e : all_explanations()) names.push_back(e.name);
    throw Failure("nothing is known about this code: expected a name or number such as BankSize, 200 or OutOfMemory, found '" + code + "'" +
                  did_you_mean(code, names));
  }
  Json all = Json::array();
  for (const Explanation& e : found) {
    all.push_back(
        {{"kind", e.kind}, {"number", e.number}, {"name", e.name}, {"text", e.text}, {"cause", e.cause}, {"what_to_do", e.remedy}});
    if (!json)
      std::printf("%s (%s %u): %s\n  cause:      %s\n  what to do: %s\n", e.name.c_str(), e.kind.c_str(), e.number, e.text.c_str(),
                  e.cause.c_str(), e.remedy.c_str());
  }
  if (json) print_json({{"explanations", all}});
}

}  // namespace

void add_explain(CLI::App& app, Context& context) {
  auto code = std::make_shared<std::string>();
  auto json = std::make_shared<bool>(false);
  CLI::App* c = app.add_subcommand("explain", "Say what a status code or reason means and what to do");
  c->add_option("CODE", *code, "name or number, as errors show it")->required();
  c->add_flag("--json", *json, "print JSON (docs/json.md)");
  c->callback([code, json, &context] {
    context.json = *json;
    print_explanations(*code, *json);
  });
}

}  // namespace mote::tools
