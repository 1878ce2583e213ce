#pragma once

#include <string>

#include "mote/api/backend_plugin.h"

namespace mote::backends {

// Loads a library and checks what it hands over; further backends of it come with next_of(). False with *error, for people; the library is
// then closed again.
bool load_plugin(const std::string& path, const mote_backend_plugin** out, std::string* error);

}  // namespace mote::backends
