// A device with one wrong kernel, "faulty": its softmax forgets an element. Selftests must find it and name it.

#include "mote/api/backend_plugin.h"
#include "mote/backends/reference/reference_backend.h"
#include "mote/ops/op_id.h"
#include "mote/ops/op_table.h"

namespace {

mote::Status wrong_softmax(const mote::OpContext& c) noexcept {
  for (const mote::OpDef& d : mote::builtin_ops()) {
    if (d.id != static_cast<uint16_t>(mote::OpId::softmax)) continue;
    const mote::Status status = d.select(c)(c);
    if (status.ok() && c.output(0).count() > 0) c.output(0).as<float>()[0] += 0.5f;
    return status;
  }
  return mote::Status::kInternal;
}

mote::KernelFn select(uint16_t op, const mote::OpContext&) noexcept {
  return op == static_cast<uint16_t>(mote::OpId::softmax) ? &wrong_softmax : nullptr;
}

}  // namespace

extern "C" __attribute__((visibility("default"))) const mote_backend_plugin* mote_backend_plugin_entry(void) {
  static const mote_backend device = [] {
    mote::backends::reference_kernels = &select;
    mote_backend b = *mote::backends::reference_backend();
    b.name = "faulty";
    return b;
  }();
  static const mote_backend_compiler compiler = [] {
    mote_backend_compiler c = *mote::backends::reference_compiler();
    c.name = "faulty";
    return c;
  }();
  static const mote_backend_plugin plugin = {MOTE_BACKEND_PLUGIN_ABI, &device, &compiler, nullptr};
  return &plugin;
}
