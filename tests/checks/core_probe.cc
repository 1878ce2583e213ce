// Uses everything a device needs of the core: open with full verification, create, bind, run, step, state and registries,
// but no operator. core_size.py links it to see how large that is; it is never run. Its own code lies in section .probe and
// does not count.

#include "mote/runtime/instance.h"

extern "C" [[gnu::section(".probe"), gnu::used]] uint32_t probe(const mote::ProgramSource* source, const mote::OpRegistry* ops,
                                                                mote::Program* program, mote::Instance* instance,
                                                                const mote::InstanceMemory* memory, const mote::InstanceOptions* options,
                                                                const mote::RunLimits* limits, mote::Diagnostic* diagnostic) {
  uint32_t r = mote::Program::open(*source, *ops, program, diagnostic).bits();
  r |= instance->create(*program, *memory, *options, diagnostic).bits();
  r |= instance->bind_input(0, 0, memory, 1).bits() | instance->bind_output(0, 0, program, 1).bits();
  const int32_t dims[1] = {1};
  r |= instance->set_input_dims(0, 0, dims, 1).bits();
  r |= instance->run(static_cast<uint32_t>(program->find_method("main")), *limits).bits();
  r |= instance->begin(0).bits() | instance->step(1, *limits).bits();
  instance->reset_state();
  instance->close();
  return r;
}
