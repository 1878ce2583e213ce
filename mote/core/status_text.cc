#include "mote/core/status.h"

namespace mote {

const char* status_text(Status::Code code) noexcept {
  switch (code) {
#define MOTE_STATUS(value, name, text) \
  case Status::k##name:                \
    return text;
#include "mote/core/status.def"
#undef MOTE_STATUS
  }
  return "unknown status";
}

const char* status_name(Status::Code code) noexcept {
  switch (code) {
#define MOTE_STATUS(value, name, text) \
  case Status::k##name:                \
    return #name;
#include "mote/core/status.def"
#undef MOTE_STATUS
  }
  return "Unknown";
}

const char* why_text(Why why) noexcept {
  switch (why) {
#define MOTE_WHY(value, name, text) \
  case Why::k##name:                \
    return text;
#include "mote/core/why.def"
#undef MOTE_WHY
  }
  return "unknown reason";
}

const char* why_name(Why why) noexcept {
  switch (why) {
#define MOTE_WHY(value, name, text) \
  case Why::k##name:                \
    return #name;
#include "mote/core/why.def"
#undef MOTE_WHY
  }
  return "Unknown";
}

}  // namespace mote
