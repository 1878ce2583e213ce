// In the place of bisect.cc and measure_backends.cc on systems for which no backend with a device is built.

#include "mote/tools/bisect.h"
#include "mote/tools/measure_backends.h"

namespace mote::tools {

Bisected bisect(const std::string&, const OpenSettings&, const GoldenExample&) {
  Bisected b;
  b.note = "the operator that differs is not looked for on this system";
  return b;
}

void measure_backends(const std::vector<std::string>&, const MeasureSettings&, target::Target*) {
  throw Failure("there is no backend to measure on this system");
}

}  // namespace mote::tools
