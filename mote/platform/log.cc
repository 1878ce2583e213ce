#include "mote/platform/log.h"

namespace mote {
namespace {

LogSink current_sink;
AbortHook current_hook = nullptr;

}  // namespace

void set_log_sink(const LogSink& sink) noexcept { current_sink = sink; }

void log_line(LogLevel level, const char* text) noexcept {
  if (current_sink.line != nullptr) current_sink.line(current_sink.self, level, text);
  else platform_log(level, text);
}

void set_abort_hook(AbortHook hook) noexcept { current_hook = hook; }

void fatal(const char* text) noexcept {
  log_line(LogLevel::kError, text);
  if (current_hook != nullptr) current_hook(text);
  platform_abort(text);
  for (;;) {}
}

}  // namespace mote
