#pragma once

#include "mote/api/backend.h"

namespace mote::backends {

// A backend that computes nothing: its blob is the text "copy" and copies input i to output i. It exists to be copied when a
// real one is written, and to test what the runtime does with backends. Static; never freed; any number of threads.
const mote_backend* null_backend() noexcept;

}  // namespace mote::backends
