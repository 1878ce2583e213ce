#pragma once

// Sounds for programs that take samples (`mote compile --audio-frontend`).

#include <functional>
#include <string>

#include "mote/tools/session.h"

namespace mote::tools {

// Feeds a WAV file to a program and runs it: once, or step by step when it was compiled with --streaming; `after_run` then hears of each
// run of the network with the seconds of sound so far. Other inputs must be set. What is missing at the end is silence.
// Throws a Failure for programs that take no samples, and for sounds of another rate.
void run_sound(Session& session, uint32_t method, const std::string& path, const std::function<void(double seconds)>& after_run);

// The input for samples; throws a Failure when the program has none.
uint32_t sound_input(const Session& session, uint32_t method);

}  // namespace mote::tools
