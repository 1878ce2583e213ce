#pragma once

// Sizes to propose for dimensions that are open: tried here, so that the advice is a command that works.

#include "mote/compiler/driver/compile.h"
#include "mote/compiler/frontends/common/open_dims.h"

namespace mote::driver {

// Compiles `source` with likely sizes of `open` until they compile and, if any do, run. What was found goes into the advice of the
// problem about them; without a success that says which sizes were tried. Does nothing when nothing is open.
void suggest_sizes(const frontends::Source& source, const CompileOptions& options, const std::vector<frontends::OpenDim>& open,
                   ir::Problems* problems);

}  // namespace mote::driver
