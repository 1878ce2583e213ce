// Each allocation of the C layer fails in turn: the call reports it, nothing leaks, nothing half-made stays behind.

#include <gtest/gtest.h>

#include <cstdlib>
#include <new>

#include "mote/api/mote.hpp"
#include "mote/api/testing/programs.h"

namespace mote {
namespace {

using namespace api_test;

// Counts what is out, and refuses allocation number `fail_at`.
struct Allocator {
  int calls = 0;
  int fail_at = -1;
  int out = 0;
  bool failed = false;
  uint64_t bytes = 0;  // of all calls, with what their alignment may take

  static void* allocate(void* self, size_t bytes, size_t alignment) {
    auto* a = static_cast<Allocator*>(self);
    a->bytes += bytes + (alignment > 16 ? alignment - 16 : 0);
    if (a->calls++ == a->fail_at) {
      a->failed = true;
      return nullptr;
    }
    void* p = nullptr;
    if (posix_memalign(&p, alignment < sizeof(void*) ? sizeof(void*) : alignment, bytes > 0 ? bytes : 1) != 0) return nullptr;
    ++a->out;
    return p;
  }
  static void release(void* self, void* p) {
    --static_cast<Allocator*>(self)->out;
    free(p);
  }
};

class AllocatorScope {
 public:
  explicit AllocatorScope(Allocator* a) { EXPECT_EQ(mote_set_allocator(&Allocator::allocate, &Allocator::release, a), 0u); }
  ~AllocatorScope() { EXPECT_EQ(mote_set_allocator(nullptr, nullptr, nullptr), 0u); }
};

// Everything the layer allocates for: returns the first failure, after giving everything back.
mote_status use_everything(const emit::FileBytes& file, const std::string& path) {
  mote_registry* registry = nullptr;
  mote_program* program = nullptr;
  mote_instance* instance = nullptr;
  mote_status s = mote_registry_create(&registry);
  mote_open_options o{};
  o.struct_size = sizeof o;
  o.registry = registry;
  o.flags = MOTE_OPEN_READ | MOTE_OPEN_GOLDEN;
  if (s == 0) s = mote_program_open_file(path.c_str(), &o, &program, nullptr);
  if (s == 0) s = mote_instance_create(program, nullptr, &instance, nullptr);
  const float x[4] = {};
  if (s == 0) s = mote_instance_set_input(instance, 0, 0, x, sizeof x, nullptr);
  if (s == 0) s = mote_instance_own_io(instance, 0, nullptr);
  if (s == 0) s = mote_instance_run(instance, 0, nullptr, nullptr);
  mote_instance_destroy(instance);
  mote_program_release(program);
  program = nullptr;
  if (s == 0) s = mote_program_open_memory(file.data(), file.size, &o, &program, nullptr);
  mote_program_release(program);
  mote_registry_release(registry);
  return s;
}

TEST(ApiFault, EachAllocationFailingInTurnIsReported) {
  const emit::FileBytes file = add_relu();
  const TempPath path("fault.mote", file.span());
  int failures = 0;
  for (int i = 0;; ++i) {
    ASSERT_LT(i, 1000);
    Allocator a;
    a.fail_at = i;
    mote_status s;
    {
      const AllocatorScope scope(&a);
      s = use_everything(file, path.str());
    }
    EXPECT_EQ(a.out, 0) << "allocation " << i << " left memory behind";
    if (!a.failed) {
      EXPECT_EQ(s, 0u);
      break;
    }
    ++failures;
    EXPECT_EQ(mote_status_code(s), MOTE_OUT_OF_MEMORY) << i;
    EXPECT_EQ(mote_status_why(s), 221u) << i;
  }
  EXPECT_GE(failures, 8);
}

TEST(ApiFault, HandlesThatAreOneAllocationGiveNull) {
  Allocator a;
  a.fail_at = 0;
  const AllocatorScope scope(&a);
  EXPECT_EQ(mote_error_create(), nullptr);
  a = {};
  a.fail_at = 0;
  EXPECT_EQ(mote_cancel_create(), nullptr);
}

TEST(ApiFault, RunningAllocatesNothing) {
  const emit::FileBytes file = add_relu();
  Allocator a;
  const AllocatorScope scope(&a);
  mote_program* program = nullptr;
  mote_instance* instance = nullptr;
  ASSERT_EQ(mote_program_open_memory(file.data(), file.size, nullptr, &program, nullptr), 0u);
  ASSERT_EQ(mote_instance_create(program, nullptr, &instance, nullptr), 0u);
  ASSERT_EQ(mote_instance_own_io(instance, 0, nullptr), 0u);
  const int before = a.calls;
  for (int i = 0; i < 10; ++i) ASSERT_EQ(mote_instance_run(instance, 0, nullptr, nullptr), 0u);
  EXPECT_EQ(a.calls, before);
  mote_instance_destroy(instance);
  mote_program_release(program);
}

TEST(ApiFault, TheAllocatorNeedsBothFunctions) {
  EXPECT_EQ(mote_status_code(mote_set_allocator(&Allocator::allocate, nullptr, nullptr)), MOTE_INVALID_ARGUMENT);
  EXPECT_EQ(mote_status_code(mote_set_allocator(nullptr, &Allocator::release, nullptr)), MOTE_INVALID_ARGUMENT);
}

// Whatever a file is full of: what the library allocates is what it says it allocates, and so what its limits count.
TEST(ApiFault, LimitsCountEveryAllocation) {
  emit::ProgramBuilder b;
  b.begin_method("main");
  emit::TensorId sum = b.input("x", DType::f32, {4});
  for (int i = 0; i < 500; ++i) b.input("more" + std::to_string(i), DType::f32, {1});
  for (int i = 0; i < 5; ++i) {
    sum = b.op(OpId::add, NoAttrs{}, {sum, sum});
    b.set_bank(sum, b.bank("bank" + std::to_string(i), 1u << 20));
  }
  b.output("y", b.op(OpId::relu, NoAttrs{}, {sum}));
  const TempPath path("counted.mote", finish(b).span());
  Allocator allocator;
  const AllocatorScope scope(&allocator);
  mote_open_options o{};
  o.struct_size = sizeof o;
  o.flags = MOTE_OPEN_READ | MOTE_OPEN_GOLDEN;
  mote_program* program = nullptr;
  mote_instance* instance = nullptr;
  ASSERT_EQ(mote_program_open_file(path.c_str(), &o, &program, nullptr), 0u);
  ASSERT_EQ(mote_instance_create(program, nullptr, &instance, nullptr), 0u);
  ASSERT_EQ(mote_instance_own_io(instance, 0, nullptr), 0u);
  const uint64_t said = mote_program_allocated_bytes(program) + mote_instance_allocated_bytes(instance);
  constexpr uint64_t kHandles = 8192;  // program and instance themselves
  EXPECT_GE(said + kHandles, allocator.bytes);
  EXPECT_GE(said, uint64_t{5} << 20) << "each bank may take almost its alignment";

  mote_instance* refused = nullptr;
  mote_instance_options small{};
  small.struct_size = sizeof small;
  small.memory_limit_bytes = 1u << 20;
  EXPECT_EQ(mote_status_code(mote_instance_create(program, &small, &refused, nullptr)), MOTE_OUT_OF_MEMORY);
  mote_instance_destroy(instance);
  mote_program_release(program);
  EXPECT_EQ(allocator.out, 0);
}

}  // namespace
}  // namespace mote
