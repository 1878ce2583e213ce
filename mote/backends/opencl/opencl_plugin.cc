// libmote_opencl: the OpenCL backends as a library of their own, or linked into libmote.

#include "mote/backends/opencl/opencl_backend.h"
#include "mote/backends/plugin/plugin_entry.h"

MOTE_PLUGIN_ENTRY(opencl) {
  using namespace mote::backends;
  static const mote_backend_plugin half_math = {MOTE_BACKEND_PLUGIN_ABI, opencl_f16a_backend(), opencl_f16a_compiler(), nullptr};
  static const mote_backend_plugin half = {MOTE_BACKEND_PLUGIN_ABI, opencl_f16_backend(), opencl_f16_compiler(), &half_math};
  static const mote_backend_plugin plugin = {MOTE_BACKEND_PLUGIN_ABI, opencl_backend(), opencl_compiler(), &half};
  return &plugin;
}
