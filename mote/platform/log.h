#pragma once

// Lines for people, and the end of a program whose internal promise is broken. The runtime below never logs; the convenience
// layer and tools do.

#include <cstdint>

namespace mote {

enum class LogLevel : uint8_t { kError, kWarning, kInfo };

// Receives every line. Called on whatever thread logs; must not log itself.
struct LogSink {
  void* self = nullptr;
  void (*line)(void* self, LogLevel level, const char* text) = nullptr;
};

// Sends lines to `sink` from now on; an empty one restores the platform's own (stderr, or the board's console). Set it before
// other threads use Mote.
void set_log_sink(const LogSink& sink) noexcept;
void log_line(LogLevel level, const char* text) noexcept;

// Called with a text before the program ends in fatal(). It may save what it likes, or not return (a test, a reset).
using AbortHook = void (*)(const char* text);
void set_abort_hook(AbortHook hook) noexcept;

// A promise this code makes to itself is broken: logs, calls the hook, ends the program. Never for bytes from outside.
[[noreturn]] void fatal(const char* text) noexcept;

// The platform's own ends of the two above (log_stdio.cc, log_bare.cc).
void platform_log(LogLevel level, const char* text) noexcept;
void platform_abort(const char* text) noexcept;

}  // namespace mote
