#pragma once

// Backends: which a program may use, where it runs, whether it does what its examples say.

#include "mote/bindings/python/src/program.h"

namespace mote::python {

// A registry with the user's operators and these backends ("cpu" is always there); the same one for the same names. Null: neither is
// needed. *allowed: the names that a program may use.
std::shared_ptr<mote_registry> registry_with(const std::vector<std::string>& backends, std::vector<std::string>* allowed);

// Binds mote._mote.backend_info.
void bind_backends(nb::module_& m);
// Dicts of backend, runs_on, instructions, has_fallback, bytes_in, bytes_out, device_bytes, predicted_us.
nb::list parts(const Program& program);
// Which backend the CPU stands in for, and why; "": none.
std::string degraded(const Program& program);
// A dict of outputs, failed, largest_error, passed, message.
nb::dict self_test(const Program& program);

}  // namespace mote::python
