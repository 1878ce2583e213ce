#pragma once

// What happened to a model: one line of JSON for each committed state. Written beside the records, never read by them.

#include <string>
#include <vector>

#include "mote/fleet/base/clock.h"
#include "mote/fleet/base/files.h"
#include "mote/fleet/store/record.h"

namespace mote::fleet::agent {

void append_history(Files& files, Clock& clock, const std::string& model_dir, const store::Record& record);
std::vector<std::string> read_history(Files& files, const std::string& model_dir);  // oldest first; whole lines only

}  // namespace mote::fleet::agent
