// libmote_xnnpack: XNNPACK as a library of its own, or linked into libmote.

#include "mote/backends/plugin/plugin_entry.h"
#include "mote/backends/xnnpack/xnnpack_backend.h"

MOTE_PLUGIN_ENTRY(xnnpack) {
  static const mote_backend_plugin plugin = {MOTE_BACKEND_PLUGIN_ABI, mote::backends::xnnpack_backend(), mote::backends::xnnpack_compiler(),
                                             nullptr};
  return &plugin;
}
