#include <stdio.h>
#include <stdlib.h>

#include "mote/platform/log.h"

namespace mote {

void platform_log(LogLevel level, const char* text) noexcept {
  static const char* const kNames[] = {"error", "warning", "info"};
  fprintf(stderr, "mote: %s: %s\n", kNames[static_cast<uint8_t>(level)], text);
}

void platform_abort(const char*) noexcept { abort(); }

}  // namespace mote
