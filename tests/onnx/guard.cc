#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <exception>

#include "tests/onnx/node_case.h"

namespace mote::node_tests {
namespace {

[[noreturn]] void child(int pipe_end, const std::string& folder, const Case& test, const Settings& settings) {
  Outcome outcome;
  try {
    outcome = run_case(folder, test, settings);
  } catch (const std::exception& e) {
    outcome = {Verdict::kFailed, std::string("exception: ") + e.what()};
  }
  for (char& c : outcome.reason)
    if (c == '\n' || c == '\t') c = ' ';
  const std::string message = static_cast<char>('0' + static_cast<int>(outcome.verdict)) + outcome.reason.substr(0, 2000);
  const ssize_t written = write(pipe_end, message.data(), message.size());
  std::fflush(nullptr);
  _exit(written == static_cast<ssize_t>(message.size()) ? 0 : 1);
}

// Everything the child writes until it closes its end. False when the time is over.
bool read_all(int fd, int seconds, std::string* out) {
  pollfd waiting{fd, POLLIN, 0};
  while (poll(&waiting, 1, seconds * 1000) > 0) {
    char buffer[4096];
    const ssize_t n = read(fd, buffer, sizeof buffer);
    if (n <= 0) return true;
    out->append(buffer, static_cast<size_t>(n));
  }
  return false;
}

}  // namespace

Outcome run_guarded(const std::string& folder, const Case& test, const Settings& settings, int seconds) {
  int ends[2];
  if (pipe(ends) != 0) return {Verdict::kFailed, "cannot make a pipe"};
  std::fflush(nullptr);
  const pid_t pid = fork();
  if (pid < 0) return {Verdict::kFailed, "cannot make a process"};
  if (pid == 0) {
    close(ends[0]);
    child(ends[1], folder, test, settings);
  }
  close(ends[1]);
  std::string message;
  const bool in_time = read_all(ends[0], seconds, &message);
  close(ends[0]);
  if (!in_time) kill(pid, SIGKILL);
  int status = 0;
  waitpid(pid, &status, 0);
  if (!in_time) return {Verdict::kFailed, "hangs: no result after " + std::to_string(seconds) + " s"};
  if (WIFSIGNALED(status)) return {Verdict::kFailed, "crashed with signal " + std::to_string(WTERMSIG(status))};
  if (message.empty()) return {Verdict::kFailed, "crashed with exit code " + std::to_string(WEXITSTATUS(status))};
  return {static_cast<Verdict>(message[0] - '0'), message.substr(1)};
}

}  // namespace mote::node_tests
