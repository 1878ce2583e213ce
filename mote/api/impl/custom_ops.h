#pragma once

// Makes a C operator look like one of the runtime's. The runtime's functions carry no user pointer (a built-in kernel needs
// none, and the executor's loop stays short), so each custom operator gets one of a fixed number of compiled-in entry points.

#include "mote/api/custom_op.h"
#include "mote/core/op.h"

namespace mote::api {

// Takes a free entry point for a complete operator and fills *out. -1 when all are taken. Any thread.
int take_entry(const mote_custom_op& op, OpDef* out) noexcept;
void give_entry_back(int entry) noexcept;

}  // namespace mote::api
