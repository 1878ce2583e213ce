#include "mote/tools/progress.h"

#include <unistd.h>

#include <cstdio>

namespace mote::tools {

Progress::Progress() : terminal_(isatty(STDERR_FILENO) != 0) {}

void Progress::show(const std::string& stage, double fraction) {
  using namespace std::chrono;
  if (!terminal_ || steady_clock::now() - begin_ < milliseconds(300)) return;
  std::fprintf(stderr, "\r\033[K%3.0f %% %s", 100 * fraction, stage.c_str());
  std::fflush(stderr);
  shown_ = true;
}

void Progress::clear() {
  if (shown_) std::fprintf(stderr, "\r\033[K");
  shown_ = false;
}

}  // namespace mote::tools
