#pragma once

#include "mote/tools/commands.h"

namespace mote::tools {

void add_check(CLI::App& app, Context& context);

}  // namespace mote::tools
