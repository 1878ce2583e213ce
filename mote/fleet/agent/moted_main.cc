// moted: keeps a device's models up to date. It only waits: each round is a process of its own, whose memory and mistakes end with it.

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

#include "mote/fleet/agent/agent.h"
#include "mote/fleet/agent/rounds.h"
#include "mote/fleet/base/fetch_oci.h"

namespace {

using namespace mote::fleet;

constexpr const char* kUsage = "usage: moted --dir DIR [--once]\n";
volatile sig_atomic_t g_stop = 0, g_now = 0;

void on_signal(int number) { (number == SIGHUP ? g_now : g_stop) = 1; }

// Sleeps until time is up or a signal comes.
void wait_ms(int64_t ms) {
  timespec left{static_cast<time_t>(ms / 1000), static_cast<long>(ms % 1000) * 1000000};
  if (g_stop == 0 && g_now == 0) ::nanosleep(&left, nullptr);
}

void tell(const std::string& id, const agent::Agent::Standing& s) {
  const store::Model& m = store::active(s.record);
  std::fprintf(stderr, "moted: %s: %s, %s%s%s\n", id.c_str(), store::name_of(s.record.state),
               m.version.empty() ? "none" : m.version.c_str(), s.note.empty() ? "" : ": ", s.note.c_str());
}

struct Round {
  bool good = true;    // everything could be done
  bool trial = false;  // a model is in trial now
};

// One look at everything. With `trials_only` nothing but trials is looked at.
Round round(const std::string& dir, bool trials_only) {
  SystemFiles files(dir);
  SystemClock clock;
  Machine machine(files, agent::conditions_path(dir));
  const std::unique_ptr<Fetcher> fetcher = make_oci_fetcher(make_curl_fetcher(), files, agent::registry_auth_path(dir));
  agent::SandboxProber prober({"moted", "--probe"}, agent::read_config(files, dir).probe_seconds);
  agent::Agent a({files, *fetcher, clock, machine, prober}, dir, agent::Agent::Turn::kWait);
  Round out;
  const auto attempt = [&](const std::string& what, const auto& work) {
    try {
      work();
    } catch (const std::exception& e) {
      std::fprintf(stderr, "moted: %s: %s\n", what.c_str(), e.what());
      out.good = false;
    }
  };
  if (!trials_only) attempt("refresh", [&] { a.refresh(); });
  for (const auto& item : a.config().models) {
    const std::string& id = item.first;
    attempt(id, [&] {
      const store::Record before = a.record(id);
      if (trials_only && before.state != store::State::kTrial) return;
      const agent::Agent::Standing after = a.advance(id);
      out.trial |= after.record.state == store::State::kTrial;
      if (!trials_only || !(after.record == before)) tell(id, after);
    });
  }
  return out;
}

// The same in a process of its own, which tells by its exit code: what the daemon itself never does costs it no memory.
Round in_child(const std::string& dir, bool trials_only) {
  constexpr int kBad = 1, kTrial = 2;
  const pid_t child = ::fork();
  if (child < 0) return {false, false};
  if (child == 0) {
    ::signal(SIGTERM, SIG_DFL);
    ::signal(SIGINT, SIG_DFL);
    Round r{false, false};
    try {
      r = round(dir, trials_only);
    } catch (const std::exception& e) {
      std::fprintf(stderr, "moted: %s\n", e.what());
    }
    std::fflush(stderr);
    ::_exit((r.good ? 0 : kBad) | (r.trial ? kTrial : 0));
  }
  int status = 0;
  while (::waitpid(child, &status, 0) < 0) {
    if (errno != EINTR) return {false, false};
    if (g_stop != 0) ::kill(child, SIGTERM);
  }
  if (!WIFEXITED(status)) return {false, trials_only};
  return {(WEXITSTATUS(status) & kBad) == 0, (WEXITSTATUS(status) & kTrial) != 0};
}

// The configuration may be changed, and damaged, while the daemon runs: the last good one counts until it is mended.
void reread(Files& files, const std::string& dir, agent::Config* config) try {
  *config = agent::read_config(files, dir);
} catch (const Error&) {}  // the round has said so

int serve(const std::string& dir) {
  struct sigaction action {};
  action.sa_handler = on_signal;
  for (const int number : {SIGTERM, SIGINT, SIGHUP}) ::sigaction(number, &action, nullptr);
  SystemFiles files(dir);
  SystemClock clock;
  Machine machine(files, agent::conditions_path(dir));
  agent::Config config = agent::read_config(files, dir);
  uint32_t failures = 0;
  while (g_stop == 0) {
    g_now = 0;
    Round last = in_child(dir, false);
    failures = last.good ? 0 : failures + 1;
    reread(files, dir, &config);
    const int64_t next = clock.monotonic_ms() + agent::next_round_ms(config.interval_seconds, failures, machine.random());
    while (g_stop == 0 && g_now == 0) {
      const int64_t left = next - clock.monotonic_ms();
      if (left <= 0) break;
      wait_ms(last.trial ? std::min(left, agent::kTrialPollMs) : left);
      if (last.trial && g_stop == 0) last = in_child(dir, true);
    }
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  const std::vector<std::string> words(argv + 1, argv + argc);
  if (!words.empty() && words[0] == "--probe") return agent::probe_main({words.begin() + 1, words.end()});
  std::string dir;
  bool once = false, good = true;
  for (size_t i = 0; i < words.size(); ++i) {
    if (words[i] == "--dir" && i + 1 < words.size()) dir = words[++i];
    else if (words[i] == "--once") once = true;
    else good = false;
  }
  if (!good || dir.empty()) {
    std::fprintf(stderr, "%s", kUsage);
    return 2;
  }
  try {
    if (once) return round(dir, false).good ? 0 : 1;
    return serve(dir);
  } catch (const std::exception& e) {
    std::fprintf(stderr, "moted: %s\n", e.what());
    return 1;
  }
}
