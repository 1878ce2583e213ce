// An application of the end-to-end test: runs the active model of an id for ever, and prints what it runs as it changes.
//   device_app DIR ID [--confirm] [--crash-on VERSION] [--slow-on VERSION]

#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>

#include "mote/api/mote.hpp"
#include "mote/fleet/app/fleet.h"

namespace {

struct State {
  std::atomic<mote_fleet*> next{nullptr};
};

void on_swap(void* context, mote_fleet* next) { static_cast<State*>(context)->next = next; }

std::string word_after(int argc, char** argv, const char* name) {
  for (int i = 3; i + 1 < argc; ++i) {
    if (std::strcmp(argv[i], name) == 0) return argv[i + 1];
  }
  return "";
}

bool has(int argc, char** argv, const char* name) {
  for (int i = 3; i < argc; ++i) {
    if (std::strcmp(argv[i], name) == 0) return true;
  }
  return false;
}

}  // namespace

int main(int argc, char** argv) {
  char why[300] = "";
  mote_fleet* model = mote_fleet_open(argv[1], argv[2], why, sizeof why);
  if (model == nullptr) return std::fprintf(stderr, "%s\n", why), 1;
  static State state;  // threads that watch may outlive main
  if (mote_fleet_watch(model, 200, on_swap, &state) != 0) return 1;
  while (true) {
    size_t bytes = 0;
    const void* data = mote_fleet_program(model, &bytes);
    auto program = mote::Model::load(data, bytes);
    if (!program) return std::fprintf(stderr, "%s\n", program.error().message.c_str()), 1;
    const std::string version = mote_fleet_version(model);
    std::printf("%s%s\n", version.c_str(), mote_fleet_in_trial(model) != 0 ? " trial" : "");
    std::fflush(stdout);
    if (version == word_after(argc, argv, "--crash-on")) std::abort();
    if (has(argc, argv, "--confirm")) mote_fleet_confirm(model);
    const uint64_t took = version == word_after(argc, argv, "--slow-on") ? 1000000 : 10;
    while (state.next.load() == nullptr) {
      mote_fleet_ran(model, took);
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    mote_fleet* next = state.next.exchange(nullptr);
    mote_fleet_close(model);
    model = next;
  }
}
