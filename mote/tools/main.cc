// The `mote` command. Exit codes: 0 ok, 1 the work failed, 2 wrong usage.

#include <cstdio>
#include <nlohmann/json.hpp>

#include "mote/tools/backends.h"
#include "mote/tools/check_command.h"
#include "mote/tools/commands.h"
#include "mote/tools/failure.h"
#include "mote/tools/kernels_built.h"
#include "mote/tools/nearest.h"

namespace {

using namespace mote::tools;

std::string usage_message(const CLI::App* app, const CLI::Error& e) {
  std::string name = "mote";
  for (const CLI::App* at = app; !at->get_subcommands().empty();) {
    at = at->get_subcommands().front();
    name += " " + at->get_name();
  }
  return "mote: " + usage_text(app, e) + "\nTry '" + name + " --help'.\n";
}

int report(const Failure& f, const Context& context) {
  std::fprintf(stderr, "mote: %s\n", f.what());
  if (context.json) {
    nlohmann::json error = {{"message", f.what()}};
    if (f.status() != 0) {
      error["code"] = mote_code_name(mote_status_code(f.status()));
      error["why"] = mote_why_name(mote_status_why(f.status()));
    }
    std::printf("%s\n", nlohmann::json{{"error", error}}.dump(2, ' ', false, nlohmann::json::error_handler_t::replace).c_str());
  } else if (f.status() != 0 && mote_status_why(f.status()) != 0) {
    std::fprintf(stderr, "mote: 'mote explain %s' says what to do\n", mote_why_name(mote_status_why(f.status())));
  }
  std::fflush(stdout);
  return f.exit_code();
}

// The version alone on the first line.
std::string version_text() {
  std::string text = std::string("mote ") + mote_version() + "\nkernels:";
  for (const std::string& name : kernel_names()) text += " " + name;
  return no_fast_kernels().empty() ? text : text + "\nwarning: " + no_fast_kernels();
}

int run(int argc, char** argv) {
  CLI::App app{"Mote compiles models ahead of time into one .mote file and runs it."};
  app.name("mote");
  app.require_subcommand(1);
  app.set_version_flag("--version", version_text);
  app.failure_message(usage_message);
  app.footer("Exit codes: 0 ok, 1 the work failed, 2 wrong usage.");
  app.fallthrough();  // --plugin may stand behind the command, too
  app.add_option("--plugin", plugin_paths(), "library with a backend (docs/adding-a-backend.md); also MOTE_PLUGINS=LIB:LIB")
      ->allow_extra_args(false);
  Context context;
  add_compile(app, context);
  add_run(app, context);
  add_bench(app, context);
  add_inspect(app, context);
  add_profile(app, context);
  add_measure(app, context);
  add_verify(app, context);
  add_validate(app, context);
  add_diff(app, context);
  add_selftest(app, context);
  add_check(app, context);
  add_ops(app, context);
  add_explain(app, context);
  add_package(app, context);
  add_repo(app, context);
  add_fleet(app, context);
  add_completion(app);
  if (const std::string unknown = unknown_subcommand(app, argc, argv); !unknown.empty()) {
    std::fprintf(stderr, "mote: %s\nTry 'mote --help'.\n", unknown.c_str());
    return kUsage;
  }
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& e) {
    return app.exit(e) == 0 ? kSuccess : kUsage;
  } catch (const Failure& f) {
    return report(f, context);
  } catch (const std::exception& e) {
    return report(Failure(e.what()), context);
  }
  if (std::fflush(stdout) != 0 || std::ferror(stdout) != 0) {
    std::fprintf(stderr, "mote: the output cannot be written\n");
    return kFailed;
  }
  return context.exit_code;
}

}  // namespace

int main(int argc, char** argv) { return run(argc, argv); }
