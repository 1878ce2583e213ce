#pragma once

#include <chrono>
#include <condition_variable>
#include <string>
#include <thread>

namespace mote::tools {

// One line on a terminal that says what long work does, how far it is and since when it runs; nothing where standard error is no terminal
// or the work is short. A thread draws it a few times a second, so a stage that reports nothing in between shows the time that passes.
class Progress {
 public:
  Progress();
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  // From here on this is what is done. `fraction`: of the whole work, 0 to 1; below 0: not known. Cheap: it draws nothing itself.
  void show(const std::string& stage, double fraction = -1);
  // Takes the line away until the next show(): before results are printed.
  void clear();

  // Writes a line to standard error while work goes on, in front of the progress of whichever Progress is shown.
  static void say(const std::string& line);

 private:
  void tick();
  void draw();   // the lock is held
  void erase();  // likewise

  const std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
  std::string stage_, drawn_;  // empty: nothing to show; nothing on the terminal
  double fraction_ = -1;
  bool done_ = false;
  std::condition_variable wake_;
  std::thread ticker_;  // only on a terminal
};

}  // namespace mote::tools
