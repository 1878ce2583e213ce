// What long work shows on a terminal: the command runs on a pseudo-terminal, as a user sees it.

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <functional>

#include "mote/tools/npy.h"
#include "mote/tools/testing/cli.h"
#include "mote/tools/testing/onnx.h"

namespace mote::tools {
namespace {

using api_test::TempPath;
using cli_test::contains;
using cli_test::Ran;
namespace onnx = cli_test::onnx;

using Clock = std::chrono::steady_clock;

struct Seen {
  int exit_code = -1;
  double seconds = 0;
  std::string text;  // everything that was written to standard error
};

// Standard error is a terminal, standard output is thrown away.
Seen on_terminal(const std::string& arguments) {
  Seen seen;
  const int terminal = posix_openpt(O_RDWR | O_NOCTTY);
  if (terminal < 0 || grantpt(terminal) != 0 || unlockpt(terminal) != 0) return seen;
  const char* other = ptsname(terminal);
  const int kept = other != nullptr ? open(other, O_RDWR | O_NOCTTY) : -1;  // without it reading fails before the command opens its side
  if (kept < 0) return seen;
  const TempPath code("cli_code");
  const std::string command =
      std::string(std::getenv("MOTE_COMMAND")) + " " + arguments + " >/dev/null 2>" + other + "; echo $? >" + code.str();
  const auto begin = Clock::now();
  FILE* child = popen(command.c_str(), "r");
  const auto read_some = [&](int wait_ms) {
    pollfd p{terminal, POLLIN, 0};
    char bytes[4096];
    if (poll(&p, 1, wait_ms) <= 0) return false;
    const ssize_t n = read(terminal, bytes, sizeof bytes);
    if (n > 0) seen.text.append(bytes, static_cast<size_t>(n));
    return n > 0;
  };
  pollfd end{fileno(child), POLLIN, 0};
  while (poll(&end, 1, 0) == 0) (void)read_some(20);  // the shell's end of file says that the command has ended
  seen.seconds = std::chrono::duration<double>(Clock::now() - begin).count();
  while (read_some(0)) {}
  pclose(child);
  close(kept);
  close(terminal);
  seen.exit_code = std::atoi(cli_test::read_text(code.str()).c_str());
  return seen;
}

constexpr int kSize = 256;

// Matrix products one after the other, each 16.8 million multiply-adds.
std::string chain_of(int products) {
  std::string nodes, before = "x";
  for (int i = 1; i <= products; ++i) {
    const std::string after = i == products ? "y" : "v" + std::to_string(i);
    nodes += onnx::node("MatMul", "product" + std::to_string(i), {before, "x"}, after);
    before = after;
  }
  return onnx::model(nodes + onnx::input("x", {kSize, kSize}) + onnx::output("y", {kSize, kSize}));
}

class ProgressCli : public ::testing::Test {
 protected:
  ProgressCli() { std::filesystem::create_directories(folder_.str()); }
  std::string in(const std::string& name) const { return folder_.str() + "/" + name; }
  std::string model(int products) const {
    const std::string path = in(std::to_string(products) + ".onnx"), text = chain_of(products);
    std::string error;
    EXPECT_TRUE(write_whole_file(path, {text.begin(), text.end()}, &error)) << error;
    return path;
  }
  std::string program(int products) const {
    const std::string path = in("chain.mote");
    const Ran r = cli_test::mote("compile " + model(products) + " -o " + path + " --golden-examples 0");
    EXPECT_EQ(r.exit_code, 0) << r.err;
    return path;
  }
  // Work of more than a second says what it does and since when, and takes that away at the end. The job grows until it lasts long enough
  // to tell on this machine: `arguments` makes the command for a size.
  using Job = std::function<std::string(int size)>;
  static void expect_shown(const Job& arguments, int size, const std::string& stage, bool percent) {
    Seen seen = on_terminal(arguments(size));
    for (; seen.exit_code == 0 && seen.seconds < kLongEnough && size < 100000; seen = on_terminal(arguments(size)))
      size = std::max(size + 1, static_cast<int>(1.5 * size * kLongEnough / seen.seconds));
    SCOPED_TRACE(arguments(size) + "\n" + seen.text);
    EXPECT_EQ(seen.exit_code, 0);
    ASSERT_GE(seen.seconds, kLongEnough) << "the job does not grow with its size";
    EXPECT_TRUE(contains(seen.text, stage));
    EXPECT_TRUE(contains(seen.text, ", 1 s")) << "nothing shows that time passes";
    EXPECT_EQ(contains(seen.text, " % "), percent);
    EXPECT_EQ(seen.text.rfind("\r\033[K"), seen.text.size() - 4) << "the line stays behind";
  }

  static constexpr double kLongEnough = 2;  // seconds: ", 1 s" has been on the terminal for a while
  const TempPath folder_{"progress_cli"};
};

TEST_F(ProgressCli, ALongStageIsShownThoughItReportsNothingInBetween) {
  // One run of some seconds: nothing is known but that it runs.
  const NpyArray x{DType::f32, {kSize, kSize}, std::vector<uint8_t>(4 * kSize * kSize)};
  std::string error;
  ASSERT_TRUE(write_npy(in("x.npy"), x, &error)) << error;
  const Job run = [&](int size) { return "run " + program(size) + " --input x=" + in("x.npy") + " --kernels portable"; };
  expect_shown(run, 60, "running", false);
}

TEST_F(ProgressCli, CompilingAndSelftestShowTheirStages) {
  const std::string path = in("p.mote"), onnx = model(2);
  const auto compile = [&](int examples) { return "compile " + onnx + " -o " + path + " --golden-examples " + std::to_string(examples); };
  expect_shown(compile, 25, "check", true);
  const Job selftest = [&](int examples) {
    EXPECT_EQ(cli_test::mote(compile(examples)).exit_code, 0);
    return "selftest " + path + " --kernels portable";
  };
  expect_shown(selftest, 25, "running examples", true);
}

TEST_F(ProgressCli, CommandsThatRunProgramsShowProgress) {
  const std::string path = program(2);
  const auto times = [&](const std::string& before) { return [before](int n) { return before + std::to_string(n); }; };
  expect_shown(times("bench " + path + " --duration "), 2, "measuring", true);
  expect_shown(times("bench " + path + " --period-us 100000 --duration "), 2, "measuring", true);
  expect_shown(times("profile " + path + " --kernels portable --runs "), 50, "running", true);
  expect_shown(times("validate " + model(2) + " " + path + " --reference mote --samples "), 25, "running the reference", true);
}

TEST_F(ProgressCli, NothingIsWrittenWhereThereIsNoTerminal) {
  const std::string path = program(2);
  for (const std::string& arguments : {"bench " + path + " --duration 1", "profile " + path + " --kernels portable --runs 20"}) {
    const Ran r = cli_test::mote(arguments);
    EXPECT_EQ(r.exit_code, 0);
    EXPECT_EQ(r.err, "") << arguments;
  }
}

TEST_F(ProgressCli, ShortWorkShowsNothing) {
  const Seen seen = on_terminal("verify " + program(2));
  EXPECT_EQ(seen.exit_code, 0);
  EXPECT_EQ(seen.text, "");
}

}  // namespace
}  // namespace mote::tools
