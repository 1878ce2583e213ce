#pragma once

// mote.compile and what torch.export gives: the compiler's driver behind Python's options.

#include "mote/bindings/python/src/failure.h"

namespace mote::python {

// Binds mote._mote.compile_path, compile_bytes, compile_exported, the exporter's tables and the names of the passes.
void bind_compile(nb::module_& m);

}  // namespace mote::python
