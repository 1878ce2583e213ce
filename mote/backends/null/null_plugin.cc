// The null backend as a plug-in, under a name of its own: what a library must export to be loaded with `mote --plugin`.

#include "mote/api/backend_plugin.h"
#include "mote/backends/null/null_backend.h"

// Tests build it for interfaces that are not this Mote's.
#ifndef MOTE_TEST_PLUGIN_ABI
#define MOTE_TEST_PLUGIN_ABI MOTE_BACKEND_PLUGIN_ABI
#endif
#ifndef MOTE_TEST_BACKEND_ABI
#define MOTE_TEST_BACKEND_ABI MOTE_BACKEND_ABI
#endif

#ifndef MOTE_TEST_NO_ENTRY
extern "C" __attribute__((visibility("default"))) const mote_backend_plugin* mote_backend_plugin_entry(void) {
  static const mote_backend device = [] {
    mote_backend b = *mote::backends::null_backend();
    b.abi = MOTE_TEST_BACKEND_ABI;
    b.name = "null_plugin";
    return b;
  }();
  static const mote_backend_plugin plugin = {MOTE_TEST_PLUGIN_ABI, &device, nullptr, nullptr};
  return &plugin;
}
#endif
