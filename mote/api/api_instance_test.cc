// Instances through the C interface: memory, inputs and outputs, runs.

#include <gtest/gtest.h>

#include <cmath>
#include <thread>

#include "mote/api/mote.hpp"
#include "mote/api/testing/programs.h"

namespace mote {
namespace {

using namespace api_test;

class ApiInstance : public ::testing::Test {
 protected:
  void open(emit::FileBytes file, const mote_instance_options* options = nullptr) {
    instance.reset();
    program.reset();
    file_ = std::move(file);
    mote_program* p = nullptr;
    ASSERT_EQ(mote_program_open_memory(file_.data(), file_.size, nullptr, &p, error.get()), 0u) << message();
    program.reset(p);
    mote_instance* i = nullptr;
    ASSERT_EQ(mote_instance_create(p, options, &i, error.get()), 0u) << message();
    instance.reset(i);
  }
  std::string message() const { return mote_error_message(error.get()); }

  emit::FileBytes file_;
  ProgramHandle program;
  InstanceHandle instance;
  ErrorHandle error{mote_error_create()};
};

TEST_F(ApiInstance, RunsOnTheCallersBuffers) {
  open(add_relu());
  const float x[4] = {-3, -1, 0, 2};
  float y[4] = {9, 9, 9, 9};
  ASSERT_EQ(mote_instance_bind_input(instance.get(), 0, 0, x, sizeof x, nullptr), 0u);
  ASSERT_EQ(mote_instance_bind_output(instance.get(), 0, 0, y, sizeof y, nullptr), 0u);
  EXPECT_EQ(mote_instance_output_data(instance.get(), 0, 0), y);
  ASSERT_EQ(mote_instance_run(instance.get(), 0, nullptr, error.get()), 0u) << message();
  EXPECT_EQ(y[0], 0);
  EXPECT_EQ(y[3], 3);
}

TEST_F(ApiInstance, CopiesInAndOut) {
  open(add_relu());
  const float x[4] = {-3, -1, 0, 2};
  float y[4] = {};
  uint64_t bytes = 0;
  ASSERT_EQ(mote_instance_set_input(instance.get(), 0, 0, x, sizeof x, error.get()), 0u) << message();
  EXPECT_EQ(mote_status_code(mote_instance_run(instance.get(), 0, nullptr, error.get())), MOTE_NOT_BOUND);
  EXPECT_STREQ(mote_error_tensor(error.get()), "y");
  EXPECT_EQ(mote_status_code(mote_instance_get_output(instance.get(), 0, 0, y, sizeof y, &bytes, error.get())), MOTE_NOT_BOUND);
  ASSERT_EQ(mote_instance_own_io(instance.get(), 0, error.get()), 0u);
  ASSERT_EQ(mote_instance_run(instance.get(), 0, nullptr, error.get()), 0u) << message();
  ASSERT_EQ(mote_instance_get_output(instance.get(), 0, 0, y, sizeof y, &bytes, error.get()), 0u);
  EXPECT_EQ(bytes, 16u);
  EXPECT_EQ(y[3], 3);
  EXPECT_EQ(mote_status_code(mote_instance_get_output(instance.get(), 0, 0, y, 15, &bytes, error.get())), MOTE_INVALID_ARGUMENT);
  EXPECT_EQ(mote_status_code(mote_instance_set_input(instance.get(), 0, 0, x, 12, error.get())), MOTE_SHAPE);
  EXPECT_EQ(mote_error_expected(error.get()), 16);
  EXPECT_EQ(mote_error_found(error.get()), 12);
}

// The buffer was looked for when the run began; the larger size drops it.
TEST_F(ApiInstance, ANewSizeEndsARunThatWasBegun) {
  open(dynamic_relu());
  const int32_t small[2] = {2, 2}, large[2] = {8, 2};
  const float x[4] = {-3, -1, 0, 2};
  float y[16];
  ASSERT_EQ(mote_instance_set_input_dims(instance.get(), 0, 0, small, 2, nullptr), 0u);
  ASSERT_EQ(mote_instance_bind_input(instance.get(), 0, 0, x, sizeof x, nullptr), 0u);
  ASSERT_EQ(mote_instance_bind_output(instance.get(), 0, 0, y, sizeof y, nullptr), 0u);
  ASSERT_EQ(mote_instance_begin(instance.get(), 0, error.get()), 0u);
  ASSERT_EQ(mote_instance_set_input_dims(instance.get(), 0, 0, small, 2, nullptr), 0u) << "the same size changes nothing";
  ASSERT_EQ(mote_instance_set_input_dims(instance.get(), 0, 0, large, 2, nullptr), 0u);
  EXPECT_EQ(mote_status_code(mote_instance_step(instance.get(), 100, nullptr, error.get())), MOTE_INVALID_ARGUMENT);
  EXPECT_NE(message().find("begin"), std::string::npos) << message();
  EXPECT_EQ(mote_status_code(mote_instance_begin(instance.get(), 0, error.get())), MOTE_NOT_BOUND);
  // The buffer is found again with a size that it has room for.
  ASSERT_EQ(mote_instance_set_input_dims(instance.get(), 0, 0, small, 2, nullptr), 0u);
  ASSERT_EQ(mote_instance_begin(instance.get(), 0, error.get()), 0u);
  ASSERT_EQ(mote_instance_set_input_dims(instance.get(), 0, 0, small, 2, nullptr), 0u);
  EXPECT_EQ(mote_instance_step(instance.get(), 100, nullptr, error.get()), 0u) << message();
  EXPECT_EQ(y[3], 2);
}

TEST_F(ApiInstance, ASizeThatCutsAPointerIsNoStructsSize) {
  open(add_relu());
  mote_tensor_info info{};
  info.struct_size = sizeof info - 3;
  EXPECT_EQ(mote_status_code(mote_program_input_info(program.get(), 0, 0, &info)), MOTE_INVALID_ARGUMENT);
  const char* const names[] = {nullptr};
  mote_open_options o{};
  o.struct_size = sizeof o;
  o.backends = names;
  o.backend_count = 1;
  mote_program* p = nullptr;
  EXPECT_EQ(mote_status_code(mote_program_open_memory(file_.data(), file_.size, &o, &p, nullptr)), MOTE_INVALID_ARGUMENT);
}

TEST_F(ApiInstance, DoesNotCopyIntoTheCallersBuffer) {
  open(add_relu());
  const float x[4] = {};
  ASSERT_EQ(mote_instance_bind_input(instance.get(), 0, 0, x, sizeof x, nullptr), 0u);
  EXPECT_EQ(mote_status_code(mote_instance_set_input(instance.get(), 0, 0, x, sizeof x, nullptr)), MOTE_BUSY);
}

TEST_F(ApiInstance, WrongNumbersAndSizesAreNamed) {
  open(add_relu());
  float x[4] = {};
  EXPECT_EQ(mote_status_why(mote_instance_bind_input(instance.get(), 7, 0, x, 16, error.get())), 211u);
  EXPECT_NE(message().find("expected less than 2, found 7"), std::string::npos) << message();
  EXPECT_EQ(mote_status_why(mote_instance_bind_input(instance.get(), 0, 3, x, 16, error.get())), 205u);
  EXPECT_EQ(mote_status_why(mote_instance_bind_output(instance.get(), 0, 1, x, 16, error.get())), 206u);
  EXPECT_EQ(mote_status_why(mote_instance_bind_output(instance.get(), 0, 0, x, 15, error.get())), 207u);
  EXPECT_EQ(message(), "cannot bind an output: tensor 'y': a buffer is smaller than its tensor: expected at least 16 bytes, found 15");
  EXPECT_EQ(mote_status_why(mote_instance_bind_output(instance.get(), 0, 0, reinterpret_cast<char*>(x) + 1, 16, error.get())), 208u);
  EXPECT_EQ(mote_status_why(mote_instance_run(instance.get(), 9, nullptr, error.get())), 211u);
  EXPECT_EQ(mote_instance_input_data(instance.get(), 0, 3), nullptr);
}

TEST_F(ApiInstance, DynamicSizes) {
  open(dynamic_relu());
  const float x[16] = {-1, 2, -3, 4};
  float y[16] = {};
  ASSERT_EQ(mote_instance_bind_input(instance.get(), 0, 0, x, sizeof x, nullptr), 0u);
  ASSERT_EQ(mote_instance_bind_output(instance.get(), 0, 0, y, sizeof y, nullptr), 0u);
  for (const int32_t rows : {2, 8, 0, 3}) {
    const int32_t dims[2] = {rows, 2};
    ASSERT_EQ(mote_instance_set_input_dims(instance.get(), 0, 0, dims, 2, error.get()), 0u) << message();
    ASSERT_EQ(mote_instance_run(instance.get(), 0, nullptr, error.get()), 0u) << rows << message();
    int32_t got[MOTE_MAX_RANK];
    uint32_t rank = 0;
    ASSERT_EQ(mote_instance_output_dims(instance.get(), 0, 0, got, &rank), 0u);
    EXPECT_EQ(rank, 2u);
    EXPECT_EQ(got[0], rows);
  }
  EXPECT_EQ(y[1], 2);
  const int32_t large[2] = {9, 2}, wrong[2] = {1, 3};
  EXPECT_EQ(mote_status_code(mote_instance_set_input_dims(instance.get(), 0, 0, large, 2, error.get())), MOTE_SHAPE);
  EXPECT_NE(message().find("'x'"), std::string::npos);
  EXPECT_NE(message().find("expected at most 8, found 9"), std::string::npos) << message();
  EXPECT_EQ(mote_status_code(mote_instance_set_input_dims(instance.get(), 0, 0, wrong, 2, nullptr)), MOTE_SHAPE);
  EXPECT_EQ(mote_status_code(mote_instance_set_input_dims(instance.get(), 0, 0, large, 1, nullptr)), MOTE_SHAPE);
}

TEST_F(ApiInstance, ABufferTooSmallForALargerSizeIsNoticed) {
  open(dynamic_relu());
  const float x[4] = {};
  float y[16];
  const int32_t two[2] = {2, 2}, four[2] = {4, 2};
  ASSERT_EQ(mote_instance_set_input_dims(instance.get(), 0, 0, two, 2, nullptr), 0u);
  ASSERT_EQ(mote_instance_bind_input(instance.get(), 0, 0, x, sizeof x, nullptr), 0u);
  ASSERT_EQ(mote_instance_bind_output(instance.get(), 0, 0, y, sizeof y, nullptr), 0u);
  ASSERT_EQ(mote_instance_run(instance.get(), 0, nullptr, nullptr), 0u);
  ASSERT_EQ(mote_instance_set_input_dims(instance.get(), 0, 0, four, 2, nullptr), 0u);
  EXPECT_EQ(mote_status_code(mote_instance_run(instance.get(), 0, nullptr, nullptr)), MOTE_NOT_BOUND);
}

TEST_F(ApiInstance, StateIsKeptAndReset) {
  open(counter());
  const float one = 1;
  float y = 0;
  ASSERT_EQ(mote_instance_bind_input(instance.get(), 0, 0, &one, sizeof one, nullptr), 0u);
  ASSERT_EQ(mote_instance_bind_output(instance.get(), 0, 0, &y, sizeof y, nullptr), 0u);
  for (int i = 1; i <= 3; ++i) {
    ASSERT_EQ(mote_instance_run(instance.get(), 0, nullptr, nullptr), 0u);
    EXPECT_EQ(y, static_cast<float>(i));
  }
  ASSERT_EQ(mote_instance_reset_state(instance.get()), 0u);
  ASSERT_EQ(mote_instance_run(instance.get(), 0, nullptr, nullptr), 0u);
  EXPECT_EQ(y, 1);
}

TEST_F(ApiInstance, StepsLimitsDeadlinesAndCancelling) {
  open(add_relu());
  ASSERT_EQ(mote_instance_own_io(instance.get(), 0, nullptr), 0u);
  mote_run_options o{};
  o.struct_size = sizeof o;
  o.max_steps = 1;
  EXPECT_EQ(mote_status_code(mote_instance_run(instance.get(), 0, &o, error.get())), MOTE_STEP_LIMIT);
  o.max_steps = 2;
  EXPECT_EQ(mote_instance_run(instance.get(), 0, &o, nullptr), 0u);
  o = {};
  o.struct_size = sizeof o;
  o.deadline_ns = 1;
  EXPECT_EQ(mote_status_code(mote_instance_run(instance.get(), 0, &o, error.get())), MOTE_DEADLINE);
  EXPECT_NE(message().find("mote::add"), std::string::npos) << message();
  o.deadline_ns = mote_clock_ns() + 60000000000u;
  const CancelHandle cancel{mote_cancel_create()};
  o.cancel = cancel.get();
  EXPECT_EQ(mote_instance_run(instance.get(), 0, &o, nullptr), 0u);
  mote_cancel_request(cancel.get());
  EXPECT_EQ(mote_status_code(mote_instance_run(instance.get(), 0, &o, nullptr)), MOTE_CANCELLED);
  mote_cancel_reset(cancel.get());
  EXPECT_EQ(mote_instance_run(instance.get(), 0, &o, nullptr), 0u);
}

TEST_F(ApiInstance, StepByStep) {
  open(add_relu());
  ASSERT_EQ(mote_instance_own_io(instance.get(), 0, nullptr), 0u);
  EXPECT_EQ(mote_status_code(mote_instance_step(instance.get(), 1, nullptr, nullptr)), MOTE_INVALID_ARGUMENT);
  ASSERT_EQ(mote_instance_begin(instance.get(), 0, nullptr), 0u);
  EXPECT_EQ(mote_instance_position(instance.get()), 0u);
  EXPECT_EQ(mote_status_code(mote_instance_step(instance.get(), 1, nullptr, nullptr)), MOTE_PAUSED);
  EXPECT_EQ(mote_instance_position(instance.get()), 1u);
  EXPECT_EQ(mote_instance_step(instance.get(), 5, nullptr, nullptr), 0u);
}

TEST_F(ApiInstance, RunsInTheCallersMemoryAndRefusesOneByteLess) {
  open(add_relu());
  mote_certificate c{};
  c.struct_size = sizeof c;
  ASSERT_EQ(mote_program_certificate(program.get(), &c), 0u);
  alignas(64) static uint8_t memory[4][4096];
  mote_memory instance_memory{memory[0], c.instance_bytes}, scratch{memory[1], c.scratch_bytes};
  std::vector<mote_memory> banks(c.bank_count);
  for (uint32_t i = 0; i < c.bank_count; ++i) {
    banks[i].data = memory[2 + i];
    ASSERT_EQ(mote_program_bank(program.get(), i, nullptr, &banks[i].bytes, nullptr), 0u);
  }
  mote_instance_options o{};
  o.struct_size = sizeof o;
  o.instance = &instance_memory;
  o.scratch = &scratch;
  o.banks = banks.data();
  o.bank_count = c.bank_count;
  mote_instance* i = nullptr;
  ASSERT_EQ(mote_instance_create(program.get(), &o, &i, error.get()), 0u) << message();
  EXPECT_LT(mote_instance_allocated_bytes(i), 256u) << "a few words for each bank, input and output";
  mote_instance_destroy(i);
  i = nullptr;
  instance_memory.bytes -= 1;
  EXPECT_EQ(mote_status_code(mote_instance_create(program.get(), &o, &i, error.get())), MOTE_OUT_OF_MEMORY);
  instance_memory.bytes += 1;
  for (mote_memory& b : banks) {
    if (b.bytes == 0) continue;
    b.bytes -= 1;
    EXPECT_EQ(mote_status_code(mote_instance_create(program.get(), &o, &i, error.get())), MOTE_OUT_OF_MEMORY);
    b.bytes += 1;
  }
  o.bank_count += 1;
  banks.push_back({memory[3], 64});
  o.banks = banks.data();
  EXPECT_EQ(mote_status_why(mote_instance_create(program.get(), &o, &i, error.get())), 201u);
  EXPECT_EQ(i, nullptr);
}

TEST_F(ApiInstance, MemoryLimit) {
  open(add_relu());
  const uint64_t needed = mote_instance_allocated_bytes(instance.get());
  mote_instance_options o{};
  o.struct_size = sizeof o;
  o.memory_limit_bytes = needed;
  mote_instance* i = nullptr;
  ASSERT_EQ(mote_instance_create(program.get(), &o, &i, nullptr), 0u);
  EXPECT_EQ(mote_status_why(mote_instance_own_io(i, 0, nullptr)), 241u);
  mote_instance_destroy(i);
  o.memory_limit_bytes = needed - 1;
  EXPECT_EQ(mote_status_why(mote_instance_create(program.get(), &o, &i, nullptr)), 241u);
}

TEST_F(ApiInstance, TracesInstructions) {
  std::vector<std::pair<int, uint32_t>> events;
  mote_instance_options o{};
  o.struct_size = sizeof o;
  o.trace = [](void* c, mote_trace_kind kind, uint32_t, uint32_t instruction) {
    static_cast<decltype(events)*>(c)->push_back({kind, instruction});
  };
  o.trace_context = &events;
  open(add_relu(), &o);
  ASSERT_EQ(mote_instance_own_io(instance.get(), 0, nullptr), 0u);
  events.clear();
  ASSERT_EQ(mote_instance_run(instance.get(), 0, nullptr, nullptr), 0u);
  const std::vector<std::pair<int, uint32_t>> expected = {{MOTE_TRACE_RUN_BEGIN, 0},       {MOTE_TRACE_INSTRUCTION_BEGIN, 0},
                                                          {MOTE_TRACE_INSTRUCTION_END, 0}, {MOTE_TRACE_INSTRUCTION_BEGIN, 1},
                                                          {MOTE_TRACE_INSTRUCTION_END, 1}, {MOTE_TRACE_RUN_END, 2}};
  ASSERT_EQ(events.size(), expected.size());
  for (size_t i = 0; i + 1 < expected.size(); ++i) EXPECT_EQ(events[i], expected[i]) << i;
  EXPECT_EQ(events.back().first, MOTE_TRACE_RUN_END);
}

TEST_F(ApiInstance, InstancesOfOneProgramRunAtOnce) {
  open(add_relu());
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([this, t] {
      mote_instance* i = nullptr;
      ASSERT_EQ(mote_instance_create(program.get(), nullptr, &i, nullptr), 0u);
      const auto v = static_cast<float>(t);
      const float x[4] = {v, v, v, v};
      float y[4];
      ASSERT_EQ(mote_instance_bind_input(i, 0, 0, x, sizeof x, nullptr), 0u);
      ASSERT_EQ(mote_instance_bind_output(i, 0, 0, y, sizeof y, nullptr), 0u);
      for (int k = 0; k < 200; ++k) {
        ASSERT_EQ(mote_instance_run(i, 0, nullptr, nullptr), 0u);
        ASSERT_EQ(y[0], v + 1);
      }
      mote_instance_destroy(i);
    });
  }
  for (std::thread& t : threads) t.join();
}

TEST_F(ApiInstance, KeepsItsProgramAlive) {
  open(add_relu());
  program.reset();
  ASSERT_EQ(mote_instance_own_io(instance.get(), 0, nullptr), 0u);
  EXPECT_EQ(mote_instance_run(instance.get(), 0, nullptr, nullptr), 0u);
}

TEST_F(ApiInstance, NullIsRefused) {
  EXPECT_NE(mote_instance_run(nullptr, 0, nullptr, nullptr), 0u);
  EXPECT_NE(mote_instance_begin(nullptr, 0, nullptr), 0u);
  EXPECT_NE(mote_instance_step(nullptr, 1, nullptr, nullptr), 0u);
  EXPECT_NE(mote_instance_own_io(nullptr, 0, nullptr), 0u);
  EXPECT_NE(mote_instance_reset_state(nullptr), 0u);
  mote_instance* i = nullptr;
  EXPECT_NE(mote_instance_create(nullptr, nullptr, &i, nullptr), 0u);
}

}  // namespace
}  // namespace mote
