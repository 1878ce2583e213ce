// Completion scripts, made from the command line itself, so that they never lag behind it.

#include <cstdio>

#include "mote/tools/commands.h"
#include "mote/tools/failure.h"

namespace mote::tools {
namespace {

std::vector<const CLI::App*> commands_of(const CLI::App& app) {
  std::vector<const CLI::App*> all;
  for (const CLI::App* c : app.get_subcommands([](const CLI::App*) { return true; })) all.push_back(c);
  return all;
}

std::vector<std::string> options_of(const CLI::App& command) {
  std::vector<std::string> all;
  for (const CLI::Option* o : command.get_options())
    for (const std::string& name : o->get_lnames()) all.push_back("--" + name);
  return all;
}

std::string joined(const std::vector<std::string>& words) {
  std::string s;
  for (const std::string& w : words) s += (s.empty() ? "" : " ") + w;
  return s;
}

// Single quotes end a shell's single-quoted word.
std::string plain(std::string s) {
  for (char& c : s)
    if (c == '\'' || c == '[' || c == ']' || c == ':') c = ' ';
  return s;
}

void print_bash(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::App* c : commands_of(app)) names.push_back(c->get_name());
  std::printf("# bash completion for mote: source <(mote completion bash)\n_mote() {\n  local word=${COMP_WORDS[COMP_CWORD]} options=\n");
  std::printf("  if [ \"$COMP_CWORD\" -eq 1 ]; then\n    COMPREPLY=($(compgen -W '%s --help --version' -- \"$word\"))\n    return\n  fi\n",
              joined(names).c_str());
  std::printf("  case ${COMP_WORDS[1]} in\n");
  for (const CLI::App* c : commands_of(app))
    std::printf("    %s) options='%s' ;;\n", c->get_name().c_str(), joined(options_of(*c)).c_str());
  std::printf(
      "  esac\n  if [[ $word == -* ]]; then\n    COMPREPLY=($(compgen -W \"$options\" -- \"$word\"))\n  else\n    COMPREPLY=($(compgen -f "
      "-- \"${word#*=}\"))\n  fi\n}\n");
  std::printf("complete -o filenames -F _mote mote\n");
}

void print_zsh(const CLI::App& app) {
  std::printf(
      "#compdef mote\n# zsh completion for mote: mote completion zsh > \"${fpath[1]}/_mote\"\n_mote() {\n  local -a commands\n  "
      "commands=(\n");
  for (const CLI::App* c : commands_of(app)) std::printf("    '%s:%s'\n", c->get_name().c_str(), plain(c->get_description()).c_str());
  std::printf("  )\n  if (( CURRENT == 2 )); then\n    _describe command commands\n    return\n  fi\n  case $words[2] in\n");
  for (const CLI::App* c : commands_of(app)) {
    std::printf("    %s) _arguments", c->get_name().c_str());
    for (const CLI::Option* o : c->get_options())
      for (const std::string& name : o->get_lnames())
        std::printf(" '*--%s[%s]%s'", name.c_str(), plain(o->get_description()).c_str(),
                    o->get_items_expected_max() > 0 ? ":value:_files" : "");
    std::printf(" '*:file:_files' ;;\n");
  }
  std::printf("  esac\n}\n_mote \"$@\"\n");
}

void print_fish(const CLI::App& app) {
  std::printf("# fish completion for mote: mote completion fish > ~/.config/fish/completions/mote.fish\n");
  for (const CLI::App* c : commands_of(app)) {
    std::printf("complete -c mote -n __fish_use_subcommand -a %s -d '%s'\n", c->get_name().c_str(), plain(c->get_description()).c_str());
    for (const CLI::Option* o : c->get_options())
      for (const std::string& name : o->get_lnames())
        std::printf("complete -c mote -n '__fish_seen_subcommand_from %s' -l %s%s -d '%s'\n", c->get_name().c_str(), name.c_str(),
                    o->get_items_expected_max() > 0 ? " -r" : "", plain(o->get_description()).c_str());
  }
}

}  // namespace

void add_completion(CLI::App& app) {
  auto shell = std::make_shared<std::string>();
  CLI::App* c = app.add_subcommand("completion", "Print a completion script for a shell");
  c->add_option("SHELL", *shell, "bash, zsh or fish")->required()->check(CLI::IsMember({"bash", "zsh", "fish"}));
  c->callback([shell, &app] {
    if (*shell == "bash") print_bash(app);
    else if (*shell == "zsh") print_zsh(app);
    else print_fish(app);
  });
}

}  // namespace mote::tools
