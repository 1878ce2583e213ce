#include "bench/board/mote_model.h"

#include <new>

#include "mote/kernels/cortexm/runtime/select.h"
#include "mote/ops/op_table.h"
#include "mote/runtime/instance.h"

namespace bench {
namespace {

// Without constructors before main.
alignas(mote::Program) uint8_t program_bytes[sizeof(mote::Program)];
alignas(mote::Instance) uint8_t instance_bytes[sizeof(mote::Instance)];
alignas(mote::OpRegistry) uint8_t registry_bytes[sizeof(mote::OpRegistry)];
mote::Program& program() { return *reinterpret_cast<mote::Program*>(program_bytes); }
mote::Instance& instance() { return *reinterpret_cast<mote::Instance*>(instance_bytes); }

}  // namespace

int open(const unsigned char* file, uint32_t bytes, const Sizes& sizes, uint8_t* memory) {
  const auto* ops = new (registry_bytes) mote::OpRegistry(mote::builtin_ops());
  new (program_bytes) mote::Program;
  new (instance_bytes) mote::Instance;
  mote::ProgramSource source;
  source.file = {file, bytes};
  if (!mote::Program::open(source, *ops, &program()).ok()) return 1;
  uint8_t* const scratch = memory + rounded(sizes.arena);
  const mote::ByteSpan arena{memory, sizes.arena};
  const mote::InstanceMemory pieces{{scratch + rounded(sizes.scratch), sizes.instance}, {&arena, 1}, {scratch, sizes.scratch}};
  mote::InstanceOptions options;
  if (!MOTE_BENCH_LEAN) options.select = mote::cortexm::select;  // else the operators' own kernels are those
  return instance().create(program(), pieces, options).ok() ? 0 : 2;
}

int run_model() { return instance().run(0).ok() ? 0 : 3; }
void* input(uint32_t i) { return instance().input(0, i).data; }
const void* output(uint32_t i) { return instance().output(0, i).data; }

}  // namespace bench
