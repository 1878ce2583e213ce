#include "tests/differential/guarded.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>

namespace mote::differential {
namespace {

using Clock = std::chrono::steady_clock;

constexpr double kHangSeconds = 60;  // a case takes milliseconds; machines may be busy

double since(Clock::time_point t) { return std::chrono::duration<double>(Clock::now() - t).count(); }

// What a child shows its parent while it works, and leaves behind when it dies.
struct Shared {
  std::atomic<uint64_t> next;   // seed that is being checked
  std::atomic<uint64_t> began;  // a counter that moves with every case
  Totals totals;
  Stage stage;
};

Shared* make_shared() {
  void* p = mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (p == MAP_FAILED) std::abort();
  return new (p) Shared();
}

// One line, that a pipe takes whole.
void send(int fd, uint64_t seed, const Finding& f) {
  std::string line = std::to_string(seed) + "\t" + f.kind.substr(0, 600) + "\t" + f.text.substr(0, 1200);
  std::replace(line.begin(), line.end(), '\n', ' ');
  line += '\n';
  if (write(fd, line.data(), line.size()) < 0) _exit(3);
}

Found parse(const std::string& line) {
  const size_t a = line.find('\t'), b = line.find('\t', a + 1);
  return {std::strtoull(line.c_str(), nullptr, 10), {line.substr(a + 1, b - a - 1), line.substr(b + 1)}};
}

void add(const Checked& r, Totals* t) {
  for (size_t i = 0; i < kIsas; ++i) t->runs[i] += r.runs[i];
  t->reference_runs += r.reference_runs;
  t->rounded += r.rounded;
  t->refused += r.refusal.empty() ? 0 : 1;
}

std::string death(int status, const Stage& stage) {
  return (WIFSIGNALED(status) ? std::string("signal ") + strsignal(WTERMSIG(status)) : "exit " + std::to_string(WEXITSTATUS(status))) +
         " in " + stage.text;
}

class Worker {
 public:
  Worker(uint64_t first, uint64_t last, uint64_t step) : last_(last), step_(step), shared_(make_shared()) { start(first); }

  int fd() const { return pipe_[0]; }
  bool done() const { return pid_ < 0; }
  const Totals& totals() const { return shared_->totals; }

  void read_lines(const std::function<void(const Found&)>& found) {
    char bytes[8192];
    for (ssize_t n; (n = read(pipe_[0], bytes, sizeof bytes)) > 0;) text_.append(bytes, static_cast<size_t>(n));
    for (size_t end; (end = text_.find('\n')) != std::string::npos; text_.erase(0, end + 1)) found(parse(text_.substr(0, end)));
  }

  // Looks whether the child has ended or hangs; after a crash the next one goes on behind it.
  void watch(const std::function<void(const Found&)>& found) {
    if (done()) return;
    int status = 0;
    const bool ended = waitpid(pid_, &status, WNOHANG) == pid_;
    if (!ended) {
      const uint64_t began = shared_->began;
      if (began != began_) began_ = began, when_ = Clock::now();
      if (since(when_) < kHangSeconds) return;
      kill(pid_, SIGKILL);
      waitpid(pid_, &status, 0);
    }
    read_lines(found);
    close_pipe();
    pid_ = -1;
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return;
    const uint64_t seed = shared_->next;
    found({seed, {(ended ? "" : "hang: ") + death(status, shared_->stage), ""}});
    ++shared_->totals.graphs;
    if (seed + step_ < last_) start(seed + step_);
  }

  void stop() {
    if (done()) return;
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
    close_pipe();
    pid_ = -1;
  }

 private:
  void close_pipe() { close(pipe_[0]); }

  void start(uint64_t first) {
    if (pipe(pipe_) != 0) std::abort();
    when_ = Clock::now();
    std::fflush(nullptr);
    pid_ = fork();
    if (pid_ < 0) std::abort();
    if (pid_ == 0) {
      close(pipe_[0]);
      work(first);
      _exit(0);
    }
    close(pipe_[1]);
    fcntl(pipe_[0], F_SETFL, fcntl(pipe_[0], F_GETFL) | O_NONBLOCK);
  }

  void work(uint64_t first) {
    for (uint64_t seed = first; seed < last_; seed += step_) {
      shared_->next = seed;
      ++shared_->began;
      shared_->stage.set("draw");
      const Case c = draw_case(seed);
      const Checked r = check_case(c, &shared_->stage);
      add(r, &shared_->totals);
      ++shared_->totals.graphs;
      shared_->totals.nodes += static_cast<uint64_t>(c.model.graph().node_size());
      if (!r.refusal.empty()) send(pipe_[1], seed, {"refused", r.refusal});
      if (!r.finding.kind.empty()) send(pipe_[1], seed, r.finding);
    }
  }

  uint64_t last_, step_;
  Shared* shared_;
  pid_t pid_ = -1;
  int pipe_[2] = {-1, -1};
  std::string text_;
  uint64_t began_ = 0;
  Clock::time_point when_;
};

}  // namespace

Checked check_guarded(const Case& c) {
  static Shared* shared = make_shared();
  int ends[2];
  if (pipe(ends) != 0) std::abort();
  std::fflush(nullptr);
  const pid_t pid = fork();
  if (pid < 0) std::abort();
  if (pid == 0) {
    alarm(static_cast<unsigned>(kHangSeconds));
    const Checked r = check_case(c, &shared->stage);
    if (!r.refusal.empty()) send(ends[1], 0, {"refused", r.refusal});
    if (!r.finding.kind.empty()) send(ends[1], 1, r.finding);
    _exit(0);
  }
  close(ends[1]);
  std::string text;
  char bytes[4096];
  for (ssize_t n; (n = read(ends[0], bytes, sizeof bytes)) > 0;) text.append(bytes, static_cast<size_t>(n));
  close(ends[0]);
  int status = 0;
  waitpid(pid, &status, 0);
  Checked out;
  for (size_t end; (end = text.find('\n')) != std::string::npos; text.erase(0, end + 1)) {
    const Found f = parse(text.substr(0, end));
    if (f.seed == 0) out.refusal = f.finding.text;
    else out.finding = f.finding;
  }
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) out.finding = {death(status, shared->stage), ""};
  return out;
}

Totals check_seeds(uint64_t first, uint64_t last, unsigned jobs, double seconds, const std::function<void(const Found&)>& found) {
  const auto begin = Clock::now();
  std::vector<Worker> workers;
  for (unsigned i = 0; i < jobs && first + i < last; ++i) workers.emplace_back(first + i, last, jobs);
  bool going = true;
  while (going) {
    std::vector<pollfd> fds;
    for (const Worker& w : workers)
      if (!w.done()) fds.push_back({w.fd(), POLLIN, 0});
    poll(fds.data(), fds.size(), 20);
    going = false;
    for (Worker& w : workers) {
      if (w.done()) continue;
      w.read_lines(found);
      w.watch(found);
      going |= !w.done();
    }
    if (seconds > 0 && since(begin) > seconds) break;
  }
  Totals t;
  for (Worker& w : workers) {
    w.stop();
    const Totals& o = w.totals();
    t.graphs += o.graphs, t.nodes += o.nodes, t.refused += o.refused, t.rounded += o.rounded, t.reference_runs += o.reference_runs;
    for (size_t i = 0; i < kIsas; ++i) t.runs[i] += o.runs[i];
  }
  return t;
}

}  // namespace mote::differential
