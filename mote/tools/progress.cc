#include "mote/tools/progress.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <mutex>
#include <system_error>

namespace mote::tools {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kPatience{300}, kInterval{250};
constexpr size_t kSecondsWidth = 12;  // ", 123456 s" and the column behind it

std::mutex mutex;           // guards the terminal's last line and every Progress
Progress* shown = nullptr;  // whose line it is

size_t terminal_width() {
  winsize size{};
  return ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 80;
}

}  // namespace

Progress::Progress() {
  if (isatty(STDERR_FILENO) == 0) return;
  try {
    ticker_ = std::thread([this] { tick(); });
  } catch (const std::system_error&) {  // no thread to be had: the work is done without a display
  }
}

Progress::~Progress() {
  if (!ticker_.joinable()) return;
  clear();
  {
    const std::lock_guard<std::mutex> lock(mutex);
    done_ = true;
  }
  wake_.notify_one();
  ticker_.join();
}

void Progress::show(const std::string& stage, double fraction) {
  if (!ticker_.joinable()) return;
  const std::lock_guard<std::mutex> lock(mutex);
  stage_ = stage;
  fraction_ = fraction;
}

void Progress::clear() {
  if (!ticker_.joinable()) return;
  const std::lock_guard<std::mutex> lock(mutex);
  erase();
  stage_.clear();
}

void Progress::say(const std::string& line) {
  const std::lock_guard<std::mutex> lock(mutex);
  if (shown != nullptr) shown->erase();
  std::fprintf(stderr, "%s\n", line.c_str());
}

void Progress::tick() {
  std::unique_lock<std::mutex> lock(mutex);
  wake_.wait_until(lock, begin_ + kPatience, [this] { return done_; });
  while (!done_) {
    draw();
    wake_.wait_for(lock, kInterval, [this] { return done_; });
  }
}

void Progress::draw() {
  if (stage_.empty()) return;
  char percent[16] = "", seconds[32] = "";
  if (fraction_ >= 0) std::snprintf(percent, sizeof percent, "%3.0f %% ", 100 * std::min(fraction_, 1.0));
  const double passed = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin_).count();
  if (passed >= 1) std::snprintf(seconds, sizeof seconds, ", %.0f s", std::floor(passed));
  // A longer line would wrap, and its first part stay behind.
  const std::string text = (percent + stage_).substr(0, std::max<size_t>(terminal_width(), 24) - kSecondsWidth) + seconds;
  if (text == drawn_) return;
  std::fprintf(stderr, "\r\033[K%s", text.c_str());
  std::fflush(stderr);
  drawn_ = text;
  shown = this;
}

void Progress::erase() {
  if (!drawn_.empty()) std::fprintf(stderr, "\r\033[K");
  drawn_.clear();
  if (shown == this) shown = nullptr;
}

}  // namespace mote::tools
