#include "tests/fuzz/run_untrusted.h"

#include "mote/compiler/emit/builder.h"
#include "tests/fuzz/exact_block.h"
#include "tests/fuzz/values.h"

namespace mote::fuzz {
namespace {

uint32_t touch_probe(const char*, const char* capabilities) { return capabilities[0] == '!' ? 1 : 0; }

uint32_t touch_init(const mote_backend_blob* blob, const mote_backend_tensor*, uint32_t, const mote_backend_tensor*, uint32_t,
                    void** handle, uint32_t*) {
  uint32_t sum = blob->entry;
  for (uint64_t i = 0; i < blob->size; ++i) sum += blob->data[i];
  *handle = std::malloc(4);  // must come back through destroy: the leak checker watches
  std::memcpy(*handle, &sum, 4);
  return 0;
}

void touch(const mote_backend_tensor& t, bool write, uint32_t* sum) {
  const uint32_t width = dtype_bytes(static_cast<DType>(t.dtype));
  uint64_t last = width;
  for (uint32_t i = 0; i < t.rank; ++i) {
    if (t.dims[i] == 0) return;
    last += static_cast<uint64_t>(t.dims[i] - 1) * static_cast<uint32_t>(t.strides[i]);
  }
  auto* bytes = static_cast<uint8_t*>(t.data);
  for (uint64_t i = 0; i < last && width > 0; ++i) {
    if (write) bytes[i] = static_cast<uint8_t>(*sum + i);
    else *sum += bytes[i];
  }
}

uint32_t touch_execute(void* handle, const mote_backend_tensor* in, uint32_t in_count, const mote_backend_tensor* out, uint32_t out_count) {
  uint32_t sum;
  std::memcpy(&sum, handle, 4);
  for (uint32_t i = 0; i < in_count; ++i) touch(in[i], false, &sum);
  for (uint32_t i = 0; i < out_count; ++i) touch(out[i], true, &sum);
  return 0;
}

constexpr size_t kMostOps = 64;

class Host {
 public:
  Host(const Program& program, Dice& dice, UntrustedResult& result) : p_(program), t_(program.table()), dice_(dice), r_(result) {}

  uint64_t memory_needed() const {
    uint64_t bytes = uint64_t{p_.needs().instance} + p_.needs().scratch(1);
    for (const Bank& b : t_.banks) bytes += b.size;
    for (const Io& io : t_.ios) bytes += extent_bytes(t_.tensors[io.tensor]);
    return bytes;
  }

  void run(const UntrustedLimits& limits) {
    for (const Bank& b : t_.banks) {
      blocks_.emplace_back(static_cast<size_t>(b.size), b.alignment, static_cast<uint8_t>(dice_.raw()));
      banks_.push_back(blocks_.back().span());
    }
    const uint32_t threads = limits.threads != nullptr ? limits.threads->count : 1;
    ExactBlock instance_block(p_.needs().instance, 8), scratch(p_.needs().scratch(threads), 16);
    const mote_backend* backends[] = {&kTouchBackend};
    TraceHook hook;
    hook.self = this;
    hook.event = [](void* self, const TraceEvent& e) {
      if (e.kind == TraceEvent::Kind::kInstructionEnd) static_cast<Host*>(self)->ended(e.instruction);
    };
    InstanceOptions options;
    options.backends = backends;
    options.trace = &hook;
    options.select = limits.select;
    options.threads = limits.threads;
    Instance instance;
    r_.create = instance.create(p_, {instance_block.span(), {banks_.data(), banks_.size()}, scratch.span()}, options);
    if (!r_.create.ok()) return;
    r_.ops.reserve(kMostOps);
    RunLimits run_limits;
    run_limits.max_steps = limits.steps;
    for (uint32_t m = 0; m < t_.methods.size && m < 8; ++m) {
      for (const bool smaller : {false, true}) {
        if (!bind(instance, m, smaller)) continue;
        if (limits.before_run != nullptr) limits.before_run(limits.self);
        r_.run = instance.run(m, run_limits);
        if (limits.after_run != nullptr) limits.after_run(limits.self);
        ++r_.methods_run;
        check(instance, m);
      }
    }
  }

 private:
  bool bind(Instance& instance, uint32_t m, bool smaller) {
    const Method& method = t_.methods[m];
    for (uint32_t i = 0; i < method.input_count + method.output_count; ++i) {
      const bool output = i >= method.input_count;
      const uint32_t index = t_.ios[method.first_input + i].tensor;
      const TensorDesc& bound = t_.tensors[index];
      const bool outside = bound.storage == Storage::kInput || bound.storage == Storage::kOutput;
      int32_t dims[kMaxRank];
      for (int k = 0; k < bound.rank; ++k)
        dims[k] = smaller && (bound.dynamic >> k & 1) != 0 ? dice_.between(0, bound.dims[k]) : bound.dims[k];
      if (!output && !instance.set_input_dims(m, i, dims, bound.rank).ok()) return refuse("sizes within the bounds were refused");
      if (!outside) {
        if (!output && bound.storage == Storage::kArena)
          fill_values(bound.dtype, static_cast<uint8_t*>(instance.tensor(index).data),
                      static_cast<size_t>(extent_bytes(*instance.tensor(index).desc)), dice_);
        continue;
      }
      const size_t bytes = static_cast<size_t>(extent_bytes(output ? bound : *instance.tensor(index).desc));
      blocks_.emplace_back(bytes, 16);
      if (!output) fill_values(bound.dtype, blocks_.back().data(), bytes, dice_);
      const Status s = output ? instance.bind_output(m, i - method.input_count, blocks_.back().data(), bytes)
                              : instance.bind_input(m, i, blocks_.back().data(), bytes);
      if (!s.ok()) return refuse("a buffer of the right size was refused");
    }
    return true;
  }

  void ended(uint32_t instruction) {
    ++r_.instructions;
    if (r_.ops.size() < kMostOps) r_.ops.push_back(t_.instructions[instruction].op);
  }

  bool refuse(const char* what) {
    r_.broken = what;
    return false;
  }

  void check(const Instance& instance, uint32_t m) {
    const Method& method = t_.methods[m];
    for (uint32_t i = 0; i < method.output_count; ++i) {
      const uint32_t index = t_.ios[method.first_output + i].tensor;
      const TensorDesc &bound = t_.tensors[index], &actual = *instance.tensor(index).desc;
      for (int k = 0; k < bound.rank; ++k)
        if (actual.dims[k] < 0 || actual.dims[k] > bound.dims[k]) r_.broken = "an output is larger than its bound";
    }
    if (r_.run.code() == Status::kInternal) r_.broken = "the runtime reported an internal error";
  }

  const Program& p_;
  const ProgramTable& t_;
  Dice& dice_;
  UntrustedResult& r_;
  std::vector<ExactBlock> blocks_;
  std::vector<ByteSpan> banks_;
};

}  // namespace

const mote_backend kTouchBackend = {
    MOTE_BACKEND_ABI, "touch", "1",     &touch_probe, &touch_init, &touch_execute, [](void* handle) { std::free(handle); },
    nullptr,          nullptr, nullptr, nullptr};

UntrustedResult run_untrusted(ConstBytes file, Dice& dice, const UntrustedLimits& limits) {
  UntrustedResult r;
  ExactBlock copy(file.size, 16);
  if (file.size > 0) std::memcpy(copy.data(), file.data, file.size);
  ProgramSource source;
  source.file = copy.span();
  Program program;
  r.open = Program::open(source, limits.ops != nullptr ? *limits.ops : emit::builtin_registry(), &program);
  if (!r.open.ok()) return r;
  Host host(program, dice, r);
  r.skipped = host.memory_needed() > limits.memory_bytes;
  if (!r.skipped) host.run(limits);
  return r;
}

}  // namespace mote::fuzz
