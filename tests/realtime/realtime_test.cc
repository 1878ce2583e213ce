// run(), the first one included, allocates nothing, takes no lock and makes no system call: shown on random programs over every
// operator, with the portable kernels and those of every instruction set of this machine. With threads, nothing but the pool's waiting and
// waking is a system call. The checks are checked first: operators that do what they must not are caught.

#include <gtest/gtest.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <mutex>
#include <set>
#include <thread>

#include "mote/compiler/emit/builder.h"
#include "mote/kernels/select.h"
#include "mote/kernels/testing/missing_isas.h"
#include "mote/ops/matmul/matmul.h"
#include "mote/ops/op_table.h"
#include "mote/ops/softmax/softmax.h"
#include "mote/platform/cpu.h"
#include "mote/platform/thread_pool.h"
#include "tests/fuzz/op_case.h"
#include "tests/fuzz/random_program.h"
#include "tests/fuzz/run_untrusted.h"
#include "tests/realtime/watch.h"

namespace mote::realtime {
namespace {

using fuzz::Dice;

constexpr int kPrograms = 800;

Status infer_same(const InferContext& c) noexcept {
  c.same_as(0, 0, c.in(0).dtype);
  return Status::kOk;
}
void* volatile sink;
Status allocates(const OpContext&) noexcept {
  sink = std::malloc(16);
  return Status::kOk;
}
std::mutex mutex;
Status locks(const OpContext&) noexcept {
  const std::lock_guard<std::mutex> held(mutex);
  return Status::kOk;
}
Status calls_the_system(const OpContext&) noexcept {
  syscall(SYS_getpid);
  return Status::kOk;
}
Status behaves(const OpContext&) noexcept { return Status::kOk; }

template <KernelFn Kernel>
constexpr OpDef custom(const char* name) {
  return {0, 0, 0, 1, 1, 1, 1, 0, 1, name, &infer_same, [](const OpContext&) noexcept -> KernelFn { return Kernel; }, nullptr};
}
constexpr OpDef kCustom[] = {custom<&allocates>("test::allocates"), custom<&locks>("test::locks"),
                             custom<&calls_the_system>("test::calls_the_system"), custom<&behaves>("test::behaves")};

const OpRegistry& registry() {
  static const OpRegistry r(kCustom, &emit::builtin_registry());
  return r;
}

emit::FileBytes program_with(const char* symbol) {
  emit::ProgramBuilder b(registry());
  b.begin_method("main");
  const emit::TensorId x = b.input("x", DType::f32, {2}), y = b.temp(DType::f32, {2});
  b.custom_into(symbol, nullptr, 0, {x}, {y});
  b.output("y", y);
  emit::FileBytes file;
  std::string error;
  EXPECT_TRUE(b.finish(&file, &error)) << error;
  return file;
}

struct Watched {
  fuzz::UntrustedResult result;
  Counts counts;
};

// The ISA variants that this machine can run; IsaVariantsThatWereNotTried names the others.
std::vector<kernels::Isa> isa_variants() {
  std::vector<kernels::Isa> variants;
  for (uint8_t i = 0; i < static_cast<uint8_t>(kernels::Isa::kCount); ++i)
    if (kernels::can_run(static_cast<kernels::Isa>(i), cpu_features())) variants.push_back(static_cast<kernels::Isa>(i));
  return variants;
}

// Counts what happens inside of every run() of the program.
Watched watch(const emit::FileBytes& file, uint64_t seed, kernels::Isa isa = kernels::Isa::kPortable, const Threads* threads = nullptr) {
  Watched w;
  fuzz::UntrustedLimits limits;
  limits.ops = &registry();
  limits.select = kernels::select_for(isa);
  limits.threads = threads;
  limits.self = &w.counts;
  limits.before_run = [](void*) { start_watching(); };
  limits.after_run = [](void* self) {
    const Counts c = stop_watching();
    static_cast<Counts*>(self)->allocations += c.allocations;
    static_cast<Counts*>(self)->locks += c.locks;
  };
  Dice dice(seed);
  w.result = fuzz::run_untrusted(file.span(), dice, limits);
  return w;
}

constexpr int kRan = 40, kNoSeccomp = 41, kDidNotRun = 42;

// Until every thread of the pool has begun: what a system does to start one is not part of a run.
void wait_for_all(const ThreadPool& pool) {
  struct Begun {
    std::atomic<uint32_t> threads{0};
    uint32_t all;
  } begun;
  begun.all = (1u << pool.threads().count) - 1;
  const auto arrive = [](void* context, uint32_t, uint32_t thread) {
    auto& b = *static_cast<Begun*>(context);
    b.threads.fetch_or(1u << thread);
    while (b.threads.load() != b.all) std::this_thread::yield();
  };
  pool.threads().parallel_for(pool.threads().self, pool.threads().count, arrive, &begun);
}

// Runs the program's first method in a child process that may make no system call from before run() to after it. Returns the child's
// exit code, or minus the signal that ended it.
int run_without_system_calls(const emit::FileBytes& file, uint64_t seed, kernels::Isa isa = kernels::Isa::kPortable, uint32_t threads = 1) {
  const pid_t child = fork();
  if (child == 0) {
    static ThreadPool pool;
    fuzz::UntrustedLimits limits;
    limits.ops = &registry();
    limits.select = kernels::select_for(isa);
    if (threads > 1 && !pool.start(threads)) _exit(kDidNotRun);
    if (threads > 1) limits.threads = &pool.threads();
    if (threads > 1) wait_for_all(pool);
    limits.before_run = [](void*) {
      if (!(pool.threads().count > 1 ? forbid_system_calls_but_waiting() : forbid_system_calls())) _exit(kNoSeccomp);
    };
    limits.after_run = [](void*) { syscall(SYS_exit_group, kRan); };
    Dice dice(seed);
    (void)fuzz::run_untrusted(file.span(), dice, limits);
    _exit(kDidNotRun);
  }
  int status = 0;
  if (waitpid(child, &status, 0) != child) return -1000;
  return WIFSIGNALED(status) ? -WTERMSIG(status) : WEXITSTATUS(status);
}

// Random programs, every operator in turn; those that can be made.
template <class F>
void each_program(int count, const F& visit) {
  const size_t ops = fuzz::known_ops().size();
  for (int i = 0; i < count; ++i) {
    Dice dice(7000000u + static_cast<uint64_t>(i));
    fuzz::ProgramShape shape;
    shape.first_op = static_cast<int>(static_cast<size_t>(i) % ops);
    shape.max_ops = 3;
    emit::FileBytes file;
    std::string error;
    if (fuzz::make_program(dice, shape, &file, &error)) visit(file, static_cast<uint64_t>(i));
  }
}

// Large enough for threads to share each of its operators.
emit::FileBytes large_program() {
  emit::ProgramBuilder b(registry());
  b.begin_method("main");
  const std::vector<float> weights(256 * 256, 0.01f);
  const emit::TensorId x = b.input("x", DType::f32, {128, 256});
  const emit::TensorId sums = b.op(OpId::matmul, ops::matmul::Attrs{}, {x, b.constant_f32({256, 256}, weights)});
  b.output("y", b.op(OpId::softmax, ops::softmax::Attrs{}, {b.op(OpId::relu, NoAttrs{}, {sums})}));
  emit::FileBytes file;
  std::string error;
  EXPECT_TRUE(b.finish(&file, &error)) << error;
  return file;
}

TEST(Realtime, TheWatchSeesAllocationsAndLocks) {
  EXPECT_EQ(watch(program_with("test::allocates"), 1).counts.allocations, 2u);  // each method runs twice
  EXPECT_EQ(watch(program_with("test::locks"), 1).counts.locks, 2u);
  const Watched good = watch(program_with("test::behaves"), 1);
  EXPECT_EQ(good.result.methods_run, 2u);
  EXPECT_EQ(good.counts.allocations + good.counts.locks, 0u);
}

TEST(Realtime, RunAllocatesNothingAndTakesNoLock) {
  int ran = 0;
  std::set<uint16_t> ops;
  for (const kernels::Isa isa : isa_variants()) {
    SCOPED_TRACE(kernels::isa_name(isa));
    each_program(kPrograms, [&](const emit::FileBytes& file, uint64_t seed) {
      const Watched w = watch(file, seed, isa);
      EXPECT_EQ(w.counts.allocations, 0u) << "program " << seed;
      EXPECT_EQ(w.counts.locks, 0u) << "program " << seed;
      if (isa != kernels::Isa::kPortable) return;
      ran += w.result.methods_run > 0 ? 1 : 0;
      ops.insert(w.result.ops.begin(), w.result.ops.end());
    });
  }
  std::string missing;
  size_t covered = 0;
  for (const fuzz::KnownOp& op : fuzz::known_ops()) {
    if (ops.count(op.doc->id) != 0) ++covered;
    else missing += " " + op.doc->name;
  }
  RecordProperty("operators_run", static_cast<int>(covered));
  EXPECT_GE(covered * 100, fuzz::known_ops().size() * 95) << "operators that no program ran:" << missing;
  EXPECT_GE(ran, kPrograms / 2);
}

TEST(Realtime, RunMakesNoSystemCall) {
  const int self_check = run_without_system_calls(program_with("test::behaves"), 1);
  if (self_check == kNoSeccomp) GTEST_SKIP() << "this kernel or container offers no seccomp filters";
  ASSERT_EQ(self_check, kRan);
  ASSERT_EQ(run_without_system_calls(program_with("test::calls_the_system"), 1), -SIGSYS) << "the filter must catch a system call";
  for (const kernels::Isa isa : isa_variants()) {
    SCOPED_TRACE(kernels::isa_name(isa));
    const int programs = isa == kernels::Isa::kPortable ? kPrograms : kPrograms / 4;
    int ran = 0;
    each_program(programs, [&](const emit::FileBytes& file, uint64_t seed) {
      const int code = run_without_system_calls(file, seed, isa);
      EXPECT_TRUE(code == kRan || code == kDidNotRun) << "program " << seed << " ended with " << code;
      ran += code == kRan ? 1 : 0;
    });
    EXPECT_GE(ran, programs / 2);
    EXPECT_EQ(run_without_system_calls(large_program(), 1, isa), kRan);
  }
}

// A pool of threads: the caller wakes workers and waits for them, workers wait for work. Nothing else, and no allocation.
TEST(Realtime, ThreadsWaitAndWakeAndDoNothingElse) {
  const emit::FileBytes file = large_program();
  const int self_check = run_without_system_calls(program_with("test::behaves"), 1, kernels::Isa::kPortable, 3);
  if (self_check == kNoSeccomp) GTEST_SKIP() << "this kernel or container offers no seccomp filters";
  ASSERT_EQ(self_check, kRan);
  ASSERT_EQ(run_without_system_calls(program_with("test::calls_the_system"), 1, kernels::Isa::kPortable, 3), -SIGSYS)
      << "the filter must catch a system call";
  for (const kernels::Isa isa : isa_variants()) {
    SCOPED_TRACE(kernels::isa_name(isa));
    for (uint64_t seed = 0; seed < 8; ++seed) EXPECT_EQ(run_without_system_calls(file, seed, isa, 3), kRan);
    ThreadPool pool;
    ASSERT_TRUE(pool.start(3));
    const Watched w = watch(file, 1, isa, &pool.threads());
    EXPECT_EQ(w.result.methods_run, 2u);
    EXPECT_EQ(w.counts.allocations, 0u);
  }
}

TEST(Realtime, IsaVariantsThatWereNotTried) {
  const std::string missing = kerneltest::missing_isas();
  if (!missing.empty()) GTEST_SKIP() << "ISA variants that were not tried:" << missing;
}

}  // namespace
}  // namespace mote::realtime
