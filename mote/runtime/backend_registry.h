#pragma once

#include "mote/api/backend.h"
#include "mote/core/span.h"

namespace mote {

// The backends a program may use. Borrowed.
using BackendList = Span<const mote_backend* const>;

// The backend with this name, or null.
const mote_backend* find_backend(BackendList list, const char* name) noexcept;

}  // namespace mote
