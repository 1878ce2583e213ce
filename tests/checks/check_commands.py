#!/usr/bin/env python3
"""Fails when a page, a script, an example or a message names a command or option that does not exist.

    check_commands.py --mote MOTE [--other NAME=PATH ...]

Commands are taken from code blocks and inline code of *.md, from *.sh, and from the texts in the sources of the tools and the compiler;
what exists is what each `--help` says.
"""
import argparse
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGES = ["README.md", "CONTRIBUTING.md", "COMPATIBILITY.md", "SECURITY.md", "docs/*.md", "examples/**/*.md", "mote/tools/*.md",
         "mote/bindings/**/*.md", "tests/**/*.md", "bench/**/*.md"]
SCRIPTS = ["examples/**/*.sh", "tests/**/*.sh", "do"]
SOURCES = ["mote/tools/**/*.cc", "mote/tools/**/*.h", "mote/tools/**/*.def", "mote/compiler/**/*.cc", "mote/fleet/**/*.cc",
           "mote/core/*.def"]
# Options of other programs that the same texts speak of.
FOREIGN = {"--preset", "--gc-sections", "--json", "--format", "--build", "--target", "--fast", "--all", "--version", "--help", "--user",
           "--upgrade"}
OPTION = re.compile(r"(?<![\w-])(--[a-z][a-z0-9]*(?:-[a-z0-9]+)*|-[a-zA-Z](?![\w-]))")
WORD = re.compile(r"^[a-z][a-z0-9-]*$")


class Help:
    """What a command and its subcommands accept. Those of `mote fleet` take its own options too."""

    def __init__(self, command, inherited=frozenset()):
        ran = subprocess.run([*command, "--help"], capture_output=True, text=True)
        text = ran.stdout + ran.stderr
        self.options = set(OPTION.findall(text)) | inherited
        self.subcommands = {}
        _, _, listed = text.partition("Subcommands:\n")
        for line in listed.splitlines():
            found = re.match(r"  ([a-z][a-z-]*)(?:\s|$)", line)
            if not found:
                break
            self.subcommands[found[1]] = Help([*command, found[1]], self.options if command[-1] == "fleet" else frozenset())

    def all_options(self):
        return self.options.union(*[s.all_options() for s in self.subcommands.values()])


def code_of(page):
    """(line, code) of indented and fenced blocks, continued lines joined, and of inline code."""
    fenced, language, pending = False, "", ""
    for number, line in enumerate(page.splitlines(), 1):
        mark = re.match(r"\s*```(\w*)", line)
        if mark:
            fenced, language = not fenced, mark[1]
            continue
        block = fenced and language in ("", "sh", "bash", "console", "shell") or not fenced and re.match(r"(    |\t)\s*\S", line)
        if block:
            pending += line.rstrip("\\") if line.endswith("\\") else line
            if line.endswith("\\"):
                continue
            yield number, pending.strip()
            pending = ""
        elif not fenced:
            for code in re.findall(r"`([^`]+)`", line):
                yield number, code


def commands_of(code, names):
    """(name, words) of each call of one of the programs in a line of shell."""
    code = re.sub(r"(^|\s)#.*", "", code)
    code = re.sub(r"'[^']*'|\"[^\"]*\"", lambda m: m[0] if re.match(r"[\"']\$?\{?\w*\}?[\"']$", m[0]) else "TEXT", code)
    for part in re.split(r"&&|\|\||[|;&()]|\$\(", code):
        words = [w for w in part.split() if not re.match(r"^[A-Z_]+=", w)]
        while words and words[0] in ("$", "sudo", "time", "exec", "then", "if", "!", "do", "wine", "timeout"):
            words = words[1:]
        if not words:
            continue
        name = words[0].strip("\"'").replace("${", "$").replace("}", "").rsplit("/", 1)[-1].lstrip("$")
        if name in names:
            yield name, words[1:]


def wrong_in(words, help_, name):
    """The first word of a call that does not exist, or nothing."""
    path = name
    while help_.subcommands:
        # An option in front of the subcommand, with its value.
        if words and OPTION.match(words[0]) and words[0] in help_.options and len(words) > 2:
            words = words[2:]
        rest = [w for w in words if not w.startswith("-")]
        if not rest:
            break
        word = rest[0].rstrip(".,:)…")
        if not WORD.match(word) or word in ("…", "..."):
            break
        if word not in help_.subcommands:
            return f"'{path}' has no subcommand '{word}'"
        words, help_, path = words[words.index(rest[0]) + 1 :], help_.subcommands[word], f"{path} {word}"
    for word in words:
        found = OPTION.match(word)
        if found and found[1] not in help_.options:
            return f"'{path}' has no option '{found[1]}'"
    return None


def texts_of(source):
    """(line, text) of the string literals of C++, adjacent ones joined."""
    literal = r'"(?:[^"\\\n]|\\.)*"'
    for found in re.finditer(rf"{literal}(?:\s*{literal})*", source):
        text = "".join(re.findall(r'"((?:[^"\\\n]|\\.)*)"', found[0]))
        yield source.count("\n", 0, found.start()) + 1, text.replace("\\n", "\n").replace('\\"', '"')


class Check:
    def __init__(self, helps, verbs):
        self.helps = helps
        self.verbs = verbs
        self.options = set().union(FOREIGN, *[h.all_options() for h in helps.values()])
        self.problems = []
        self.count = 0

    def call(self, where, name, words):
        self.count += 1
        if (wrong := wrong_in(words, self.helps[name], name)) is not None:
            self.problems.append(f"{where}: {wrong}")

    def do_verbs(self, path):
        for number, line in enumerate(path.read_text().splitlines(), 1):
            for verb in re.findall(r"\./do ([a-z]+)", line):
                self.count += 1
                if verb not in self.verbs:
                    self.problems.append(f"{path.relative_to(ROOT)}:{number}: './do' has no command '{verb}'")

    def page(self, path):
        for line, code in code_of(path.read_text()):
            where = f"{path.relative_to(ROOT)}:{line}"
            for name, words in commands_of(code, self.helps):
                self.call(where, name, words)
            if path.parent.name not in ("docs", "tools") and path.parent != ROOT:
                continue  # other folders' pages speak of scripts of their own
            # An option alone in the text: of any command.
            alone = re.match(r"(--[a-z][a-z0-9-]*)(?:[ =].*)?$", code)
            if alone:
                self.count += 1
                if alone[1] not in self.options:
                    self.problems.append(f"{where}: no command has an option '{alone[1]}'")

    def script(self, path):
        joined = path.read_text().replace("\\\n", " ")
        for line in joined.splitlines():
            for name, words in commands_of(line, self.helps):
                self.call(str(path.relative_to(ROOT)), name, [w for w in words if "$" not in w])

    def source(self, path):
        for line, text in texts_of(path.read_text()):
            where = f"{path.relative_to(ROOT)}:{line}"
            for name, rest in re.findall(r"(?<![\w-])(mote|moted|mote-tuf) ((?:[a-z-]+ ?)*[^'`\n)]*)", text):
                words = rest.split()
                if name in self.helps and words and words[0] in self.helps[name].subcommands:
                    # As far as it is a command: words, then the prose around it.
                    kept = []
                    for word in words:
                        kept.append(word.rstrip(".,:;"))
                        if word != kept[-1]:
                            break
                    known = [w for w in kept if w.startswith("-") or w in self.helps[name].subcommands or w == kept[0]]
                    self.call(where, name, known)
            for name, word in re.findall(r"'(mote|moted|mote-tuf) ([a-z-]+)", text):
                if name in self.helps:
                    self.call(where, name, [word])


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--mote", required=True)
    parser.add_argument("--other", action="append", default=[])
    arguments = parser.parse_args()
    helps = {"mote": Help([arguments.mote])}
    for other in arguments.other:
        name, _, path = other.partition("=")
        helps[name] = Help([path])
    verbs = set(re.findall(r"^  ([a-z]+)(?: \|[^)]*)?\) ", (ROOT / "do").read_text().rpartition("\ncase ")[2], re.M))
    check = Check(helps, verbs)
    for kind, patterns in (("page", PAGES), ("script", SCRIPTS), ("source", SOURCES)):
        for pattern in patterns:
            for path in sorted(ROOT.glob(pattern)):
                if path.is_file() and "build" not in path.relative_to(ROOT).parts and not path.name.endswith("_test.cc"):
                    getattr(check, kind)(path)
                    check.do_verbs(path)
    for problem in check.problems:
        print(problem)
    print(f"{check.count} commands and options, {len(check.problems)} that do not exist")
    # A rule that finds nothing to check checks nothing.
    return 1 if check.problems or check.count < 300 else 0


if __name__ == "__main__":
    sys.exit(main())
