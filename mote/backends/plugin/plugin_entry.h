#pragma once

// The entry of a backend of this tree: exported by a library of its own, or found by name in libmote (MOTE_LINKED_BACKEND).

#include "mote/api/backend_plugin.h"

#ifdef MOTE_LINKED_BACKEND
#define MOTE_PLUGIN_ENTRY(name) extern "C" const mote_backend_plugin* mote_linked_##name(void)
#else
#define MOTE_PLUGIN_ENTRY(name) extern "C" __attribute__((visibility("default"))) const mote_backend_plugin* mote_backend_plugin_entry(void)
#endif
