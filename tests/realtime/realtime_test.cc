// run(), the first one included, allocates nothing, takes no lock and makes no system call: shown on random programs over every
// operator. The checks are checked first: operators that do what they must not are caught.

#include <gtest/gtest.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <mutex>
#include <set>

#include "mote/compiler/emit/builder.h"
#include "mote/ops/op_table.h"
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

// Counts what happens inside of every run() of the program.
Watched watch(const emit::FileBytes& file, uint64_t seed) {
  Watched w;
  fuzz::UntrustedLimits limits;
  limits.ops = &registry();
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

// Runs the program's first method in a child process that may make no system call from before run() to after it. Returns the child's
// exit code, or minus the signal that ended it.
int run_without_system_calls(const emit::FileBytes& file, uint64_t seed) {
  const pid_t child = fork();
  if (child == 0) {
    fuzz::UntrustedLimits limits;
    limits.ops = &registry();
    limits.before_run = [](void*) {
      if (!forbid_system_calls()) _exit(kNoSeccomp);
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
void each_program(const F& visit) {
  const size_t ops = fuzz::known_ops().size();
  for (int i = 0; i < kPrograms; ++i) {
    Dice dice(7000000u + static_cast<uint64_t>(i));
    fuzz::ProgramShape shape;
    shape.first_op = static_cast<int>(static_cast<size_t>(i) % ops);
    shape.max_ops = 3;
    emit::FileBytes file;
    std::string error;
    if (fuzz::make_program(dice, shape, &file, &error)) visit(file, static_cast<uint64_t>(i));
  }
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
  each_program([&](const emit::FileBytes& file, uint64_t seed) {
    const Watched w = watch(file, seed);
    ran += w.result.methods_run > 0 ? 1 : 0;
    ops.insert(w.result.ops.begin(), w.result.ops.end());
    EXPECT_EQ(w.counts.allocations, 0u) << "program " << seed;
    EXPECT_EQ(w.counts.locks, 0u) << "program " << seed;
  });
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
  int ran = 0;
  each_program([&](const emit::FileBytes& file, uint64_t seed) {
    const int code = run_without_system_calls(file, seed);
    EXPECT_TRUE(code == kRan || code == kDidNotRun) << "program " << seed << " ended with " << code;
    ran += code == kRan ? 1 : 0;
  });
  EXPECT_GE(ran, kPrograms / 2);
}

}  // namespace
}  // namespace mote::realtime
