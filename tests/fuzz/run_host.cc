#include "tests/fuzz/run_host.h"

#include <cstdlib>
#include <cstring>
#include <unordered_map>

#include "mote/api/mote.h"
#include "mote/backends/reference/reference_backend.h"
#include "mote/core/size.h"
#include "mote/format/reader.h"
#include "tests/fuzz/exact_block.h"
#include "tests/fuzz/mutate.h"
#include "tests/fuzz/random_program.h"
#include "tests/fuzz/values.h"
#ifdef MOTE_WITH_OPENCL
#include "mote/backends/opencl/opencl_backend.h"
#endif
#ifdef MOTE_WITH_XNNPACK
#include "mote/backends/xnnpack/xnnpack_backend.h"
#endif

namespace mote::fuzz {
namespace {

// What the library holds at the moment.
struct Counted {
  std::unordered_map<void*, uint64_t> blocks;
  uint64_t bytes = 0;
} counted;

constexpr uint64_t kMostBytes = 1u << 20;  // of program and instance: larger ones prove no more
// Handles and errors, which no limit counts.
constexpr uint64_t kHandles = 16384;

void* allocate(void*, size_t bytes, size_t alignment) {
  const uint64_t cost = uint64_t{bytes} + (alignment > 16 ? alignment - 16 : 0);
  if (cost > 8 * kMostBytes) return nullptr;
  void* p = nullptr;
  if (posix_memalign(&p, alignment < sizeof(void*) ? sizeof(void*) : alignment, bytes > 0 ? bytes : 1) != 0) return nullptr;
  std::memset(p, 0xa5, bytes);
  counted.blocks[p] = cost;
  counted.bytes += cost;
  return p;
}
void release(void*, void* memory) {
  const auto it = counted.blocks.find(memory);
  if (it == counted.blocks.end()) std::abort();
  counted.bytes -= it->second;
  counted.blocks.erase(it);
  std::free(memory);
}

mote_registry* registry() {
  static mote_registry* r = [] {
    // A small file may ask its backends for anything; the limit of the instance does not count what they take.
    setenv("MOTE_BACKEND_MEMORY", "33554432", 0);
    (void)mote_set_allocator(&allocate, &release, nullptr);
    mote_registry* made = nullptr;
    if (mote_registry_create(&made) != 0) std::abort();
    if (mote_registry_add_backend(made, &kTouchBackend, nullptr) != 0) std::abort();
    for (const PieceBackend& b : piece_backends())
      if (mote_registry_add_backend(made, b.device, nullptr) != 0) std::abort();
    return made;
  }();
  return r;
}

class Application {
 public:
  Application(Dice& dice, UntrustedResult& result) : dice_(dice), r_(result), error_(mote_error_create()) {}
  ~Application() {
    mote_instance_destroy(instance_);
    mote_program_release(program_);
    mote_error_destroy(error_);
  }

  void run(ConstBytes file, uint32_t steps) {
    if (!open(file)) return;
    describe();
    if (!create()) return;
    run_options_.struct_size = sizeof run_options_;
    run_options_.max_steps = steps;
    const uint32_t methods = mote_program_method_count(program_);
    for (uint32_t m = 0; m < methods && m < 4; ++m)
      for (const Sizes sizes : {Sizes::kBounds, Sizes::kAny, Sizes::kNone, Sizes::kBounds})
        if (bind(m, sizes)) run_method(m);
    run_golden();
  }

 private:
  enum class Sizes { kBounds, kAny, kNone };

  // Less than the library held beforehand, the handles and the limit: what was allocated under it.
  void check_limit(uint64_t before, uint64_t limit) {
    if (limit != 0 && counted.bytes > before + limit + kHandles) r_.broken = "more memory was allocated than the limit";
  }

  bool open(ConstBytes file) {
    mote_open_options o{};
    o.struct_size = sizeof o;
    o.registry = registry();
    o.flags = dice_.chance(20) ? MOTE_OPEN_VERIFY_DIGESTS : 0;
    o.memory_limit_bytes = dice_.chance(30) ? 1 + dice_.below(65536) : kMostBytes;
    const uint64_t before = counted.bytes;
    mote_status s = 0;
    if (dice_.chance(25)) {
      o.flags |= MOTE_OPEN_GOLDEN;
      source_ = file;
      mote_reader reader{};
      reader.struct_size = sizeof reader;
      reader.context = this;
      reader.size = file.size;
      reader.read = [](void* self, uint64_t offset, void* to, size_t size) {
        const ConstBytes& from = static_cast<Application*>(self)->source_;
        if (offset > from.size || size > from.size - offset) std::abort();
        std::memcpy(to, from.data + offset, size);
        return 0;
      };
      s = mote_program_open_reader(&reader, &o, &program_, error_);
    } else {
      s = mote_program_open_memory(file.data, file.size, &o, &program_, error_);
    }
    check_limit(before, o.memory_limit_bytes);
    r_.open = Status::from_bits(s);
    if (s != 0 && mote_error_message(error_)[0] == 0) r_.broken = "a failure without a message";
    return s == 0;
  }

  bool create() {
    mote_instance_options o{};
    o.struct_size = sizeof o;
    limit_ = o.memory_limit_bytes = dice_.chance(20) ? 1 + dice_.below(65536) : kMostBytes;
    o.threads = dice_.chance(2) ? 2 : 1;
    static const uint32_t kinds = [] {
      uint32_t n = 0;
      while (mote_kernels_name(n) != nullptr) ++n;
      return n;
    }();
    o.kernels = mote_kernels_name(dice_.below(kinds));
    before_ = counted.bytes;
    const mote_status s = mote_instance_create(program_, &o, &instance_, error_);
    check_limit(before_, limit_);
    r_.create = Status::from_bits(s);
    r_.skipped = r_.create.code() == Status::kOutOfMemory;
    return s == 0;
  }

  // Reads every text and number a program has for its host.
  void describe() {
    uint64_t sum = 0;
    const auto read = [&](const char* text) { sum += text != nullptr ? std::strlen(text) : 0; };
    for (uint32_t m = 0; m < mote_program_method_count(program_) && m < 8; ++m) {
      read(mote_program_method_name(program_, m));
      for (const bool output : {false, true})
        for (uint32_t i = 0; i < count(m, output) && i < 64; ++i) read(info(m, i, output).name);
    }
    const char *key = nullptr, *value = nullptr;
    for (uint32_t i = 0; mote_program_metadata_at(program_, i, &key, &value) == 0 && i < 64; ++i) read(key), read(value);
    for (uint32_t i = 0; mote_program_evidence_at(program_, i, &key, &value) == 0 && i < 64; ++i) read(key), read(value);
    for (uint32_t i = 0; mote_program_instruction(program_, i, &key, &value) == 0 && i < 64; ++i) read(key), read(value);
    uint64_t bytes = 0;
    uint32_t alignment = 0;
    for (uint32_t i = 0; mote_program_bank(program_, i, &key, &bytes, &alignment) == 0; ++i) read(key);
    for (uint32_t i = 0; i < mote_program_golden_count(program_) && i < 64; ++i) {
      const mote_golden g = golden(i);
      for (uint64_t k = 0; k < g.bytes; ++k) sum += static_cast<const uint8_t*>(g.data)[k];
    }
    if (sum == 12345678901234567u) std::abort();  // so that the reads happen
  }

  uint32_t count(uint32_t m, bool output) const {
    return output ? mote_program_output_count(program_, m) : mote_program_input_count(program_, m);
  }
  mote_tensor_info info(uint32_t m, uint32_t i, bool output) const {
    mote_tensor_info t{};
    t.struct_size = sizeof t;
    const mote_status s = output ? mote_program_output_info(program_, m, i, &t) : mote_program_input_info(program_, m, i, &t);
    if (s != 0) std::abort();
    return t;
  }
  mote_golden golden(uint32_t i) const {
    mote_golden g{};
    g.struct_size = sizeof g;
    if (mote_program_golden(program_, i, &g) != 0) g.bytes = 0;
    return g;
  }

  static uint64_t bytes_of(const mote_tensor_info& t, const int32_t* dims) {
    return dense_bytes(static_cast<DType>(t.dtype), static_cast<int>(t.rank), dims);
  }

  // Gives a method its inputs and outputs: buffers of its own or of the library's. False where there is no memory for them.
  bool bind(uint32_t m, Sizes sizes) {
    for (uint32_t i = 0; i < count(m, false); ++i) {
      const mote_tensor_info t = info(m, i, false);
      int32_t dims[MOTE_MAX_RANK];
      for (uint32_t k = 0; k < t.rank; ++k) {
        const bool open = (t.dynamic >> k & 1) != 0;
        dims[k] = !open || sizes == Sizes::kBounds ? t.dims[k] : sizes == Sizes::kNone ? 0 : dice_.between(0, t.dims[k]);
      }
      if (mote_instance_set_input_dims(instance_, m, i, dims, t.rank, error_) != 0) return refuse("sizes within the bounds were refused");
      const uint64_t bytes = bytes_of(t, dims);
      if (bytes > kMostBytes) return false;
      blocks_.emplace_back(static_cast<size_t>(bytes), 16);
      ExactBlock& block = blocks_.back();
      fill_values(static_cast<DType>(t.dtype), block.data(), block.size(), dice_);
      if (t.in_bank == 0 && dice_.chance(50)) {
        // Inputs with gaps between their rows need more than the dense bytes.
        if (mote_instance_bind_input(instance_, m, i, block.data(), bytes, error_) == 0) continue;
      }
      if (mote_instance_set_input(instance_, m, i, block.data(), bytes, error_) == 0) continue;
      // One that is bound is the caller's: it is bound to another of his. And the limit may be reached.
      (void)mote_instance_bind_input(instance_, m, i, block.data(), bytes, error_);
    }
    const mote_status s = mote_instance_own_io(instance_, m, error_);
    check_limit(before_, limit_);
    return s == 0;
  }

  bool refuse(const char* what) {
    r_.broken = what;
    return false;
  }

  void run_method(uint32_t m) {
    r_.run = Status::from_bits(mote_instance_run(instance_, m, &run_options_, error_));
    ++r_.methods_run;
    ++r_.instructions;
    if (r_.run.code() == Status::kInternal) r_.broken = "the runtime reported an internal error";
    for (uint32_t i = 0; i < count(m, true); ++i) {
      const mote_tensor_info t = info(m, i, true);
      int32_t dims[MOTE_MAX_RANK];
      uint32_t rank = 0;
      if (mote_instance_output_dims(instance_, m, i, dims, &rank) != 0 || rank != t.rank) std::abort();
      for (uint32_t k = 0; k < rank; ++k)
        if (dims[k] < 0 || dims[k] > t.dims[k]) r_.broken = "an output is larger than its bound";
      const uint64_t bytes = bytes_of(t, dims);
      if (r_.broken != nullptr || bytes > kMostBytes) continue;
      ExactBlock out(static_cast<size_t>(bytes), 16);
      uint64_t got = 0;
      if (mote_instance_get_output(instance_, m, i, out.data(), out.size(), &got, error_) == 0 && got != bytes)
        r_.broken = "an output has another size than it says";
    }
  }

  // The inputs of the first examples.
  void run_golden() {
    for (uint32_t i = 0; i < mote_program_golden_count(program_) && i < 16; ++i) {
      const mote_golden g = golden(i);
      if (g.is_output != 0 || g.bytes == 0) continue;
      const mote_tensor_info t = info(g.method, g.index, false);
      if (mote_instance_set_input_dims(instance_, g.method, g.index, g.dims, t.rank, error_) != 0) continue;
      (void)mote_instance_set_input(instance_, g.method, g.index, g.data, g.bytes, error_);
      if (mote_instance_own_io(instance_, g.method, error_) == 0) run_method(g.method);
      check_limit(before_, limit_);
    }
  }

  Dice& dice_;
  UntrustedResult& r_;
  mote_error* error_;
  mote_program* program_ = nullptr;
  mote_instance* instance_ = nullptr;
  mote_run_options run_options_{};
  ConstBytes source_;
  uint64_t before_ = 0, limit_ = 0;
  std::vector<ExactBlock> blocks_;
};

}  // namespace

const std::vector<PieceBackend>& piece_backends() {
  static const std::vector<PieceBackend> all = [] {
    std::vector<PieceBackend> found = {{backends::reference_backend(), backends::reference_compiler()}};
    const auto add = [&](const mote_backend* device, const mote_backend_compiler* compiler) {
      if ((device->probe(compiler->version, compiler->capabilities) & MOTE_BACKEND_ABSENT) == 0) found.push_back({device, compiler});
    };
    (void)add;
#ifdef MOTE_WITH_XNNPACK
    add(backends::xnnpack_backend(), backends::xnnpack_compiler());
#endif
#ifdef MOTE_WITH_OPENCL
    // A driver compiles for seconds and keeps what it finds: only where it is asked for.
    if (std::getenv("MOTE_FUZZ_OPENCL") != nullptr) {
      add(backends::opencl_backend(), backends::opencl_compiler());
      add(backends::opencl_f16_backend(), backends::opencl_f16_compiler());
    }
#endif
    return found;
  }();
  return all;
}

size_t mutate_for_host(uint8_t* data, size_t size, size_t most, Dice& dice) {
  if (dice.chance(12) || size < 64) {
    emit::FileBytes fresh;
    std::string error;
    ProgramShape shape;
    shape.max_ops = 4;
    const auto& all = piece_backends();
    const bool made = dice.chance(25) ? make_program(dice, shape, &fresh, &error)
                                      : make_delegating_program(all[dice.below(static_cast<uint32_t>(all.size()))], dice, &fresh);
    if (made && fresh.size <= most) {
      std::memcpy(data, fresh.data(), fresh.size);
      size = fresh.size;
      if (dice.chance(50)) return size;
    }
  }
  if (dice.chance(50)) mutate_blobs({data, size}, dice);
  else mutate_program({data, size}, dice);
  return size;
}

UntrustedResult run_host(ConstBytes file, Dice& dice, uint32_t steps) {
  UntrustedResult r;
  ExactBlock copy(file.size, 16);
  if (file.size > 0) std::memcpy(copy.data(), file.data, file.size);
  (void)registry();
  const uint64_t before = counted.bytes;
  Application(dice, r).run({copy.data(), copy.size()}, steps);
  ProgramTable t;
  r.delegated =
      r.run.ok() && r.methods_run > 0 && read_table({copy.data(), copy.size()}, copy.size(), &t, nullptr).ok() && t.backends.size > 0;
  if (counted.bytes != before) r.broken = "memory was not given back";
  return r;
}

}  // namespace mote::fuzz
