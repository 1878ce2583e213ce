// mote::Model: the convenience layer.

#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "mote/api/mote.hpp"
#include "mote/api/testing/programs.h"

namespace mote {
namespace {

using namespace api_test;

Expected<Model> load(const emit::FileBytes& file, const ModelOptions& options = {}) { return Model::load(file.data(), file.size, options); }

TEST(Model, LoadsDescribesAndRuns) {
  const emit::FileBytes file = add_relu();
  const TempPath path("model.mote", file.span());
  auto model = Model::load(path.str());
  ASSERT_TRUE(model) << model.error().message;
  ASSERT_EQ(model->inputs().size(), 1u);
  EXPECT_EQ(model->inputs()[0].name, "x");
  EXPECT_EQ(model->inputs()[0].dims, std::vector<int32_t>{4});
  EXPECT_TRUE(model->inputs()[0].quantized);
  EXPECT_EQ(model->metadata("name"), "add-relu");
  EXPECT_FALSE(model->metadata("none"));
  EXPECT_EQ(model->evidence("producer"), "api test");
  const std::vector<float> x = {-3, -1, 0, 2};
  std::vector<float> y(4);
  std::vector<OutputView> out = {output_view(y)};
  const Error error = model->run({input_view(x)}, out);
  ASSERT_FALSE(error) << error.message;
  EXPECT_EQ(y, (std::vector<float>{0, 0, 1, 3}));
  EXPECT_EQ(out[0].dims, std::vector<int32_t>{4});
}

TEST(Model, FailuresAreValues) {
  auto missing = Model::load("/no/such/model");
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().code(), MOTE_IO);
  EXPECT_EQ(missing.error().message, "/no/such/model: cannot open the program: the file cannot be opened: No such file or directory");
  const emit::FileBytes file = add_relu();
  ModelOptions options;
  options.method = "none";
  const Error no_method = load(file, options).error();
  EXPECT_EQ(no_method.code(), MOTE_NOT_FOUND);
  EXPECT_EQ(no_method.message, "no such method: expected one of main, twice, found 'none'");
  auto model = load(file);
  std::vector<float> y(4);
  EXPECT_EQ(model->run({}, {output_view(y)}).code(), MOTE_INVALID_ARGUMENT);
  std::vector<float> small(3);
  const Error e = model->run({input_view(small)}, {output_view(y)});
  EXPECT_EQ(e.tensor, "x");
}

TEST(Model, LoadErrorsNameTheFile) {
  const TempPath folder("folder"), garbage("garbage.mote", {reinterpret_cast<const uint8_t*>("not a program, at all"), 21});
  std::filesystem::create_directories(folder.str());
  ModelOptions read;
  read.read_file = true;
  for (const ModelOptions& options : {ModelOptions{}, read}) {
    EXPECT_EQ(Model::load(folder.str(), options).error().message,
              folder.str() + ": cannot open the program: the file cannot be opened: Is a directory");
    const Error e = Model::load(garbage.str(), options).error();
    EXPECT_EQ(e.code(), MOTE_CORRUPT);
    EXPECT_EQ(e.message.find(garbage.str() + ": cannot open the program: "), 0u) << e.message;
  }
  const emit::FileBytes file = add_relu();
  ModelOptions weights;
  weights.weights_path = "/no/such/weights";
  EXPECT_EQ(load(file, weights).error().message,
            "cannot open the program: the file cannot be opened: '/no/such/weights': No such file or directory");
}

// What run() says of one pair of buffers, without running where it says nothing.
std::string complaint(Model& model, const InputView& in, const OutputView& out) {
  const Error e = model.run({in}, {out});
  EXPECT_EQ(e.code(), e ? MOTE_INVALID_ARGUMENT : MOTE_OK);
  EXPECT_EQ(e.tensor.empty(), !e);
  return e.message;
}

TEST(Model, ViewsOfAnotherTypeAreRefused) {
  const emit::FileBytes file = quantized_relu();
  auto model = load(file);
  ASSERT_TRUE(model) << model.error().message;
  const std::vector<float> floats(4);
  const std::vector<int8_t> x = {-3, -1, 0, 2};
  const std::vector<uint8_t> bytes(4);
  std::vector<int8_t> y(4);
  std::vector<int32_t> wide(1);
  EXPECT_EQ(complaint(*model, input_view(x), output_view(y)), "");
  EXPECT_EQ(y, (std::vector<int8_t>{0, 0, 0, 2}));
  EXPECT_EQ(complaint(*model, input_view(floats), output_view(y)),
            "cannot run: input 'x': wrong element type: expected s8, found f32; it is quantized: real value = 0.500000 * (stored - 3)");
  // The same number of bytes is no excuse, nor is the sign.
  EXPECT_EQ(complaint(*model, input_view(floats.data(), 1), output_view(y)).find("cannot run: input 'x': wrong element type"), 0u);
  EXPECT_EQ(complaint(*model, input_view(bytes), output_view(y)), "cannot run: input 'x': wrong element type: expected s8, found u8");
  EXPECT_EQ(complaint(*model, input_view(x), output_view(wide)), "cannot run: output 'y': wrong element type: expected s8, found s32");
  // Who says that they are bytes answers for their type.
  EXPECT_EQ(complaint(*model, input_bytes(bytes.data(), 4), output_bytes(wide.data(), 4)), "");
}

TEST(Model, BuffersHaveExactlyTheTensorsBytes) {
  const emit::FileBytes file = add_relu();
  auto model = load(file);
  ASSERT_TRUE(model);
  std::vector<float> x(4), y(4), large(16);
  EXPECT_EQ(complaint(*model, input_view(x), output_view(y)), "");
  EXPECT_EQ(complaint(*model, input_view(large), output_view(y)),
            "cannot run: input 'x': wrong size of the buffer: expected 16 bytes, f32 (4), found 64 bytes");
  EXPECT_EQ(complaint(*model, input_view(x), output_view(large)),
            "cannot run: output 'y': wrong size of the buffer: expected 16 bytes, f32 (4), found 64 bytes");
  EXPECT_EQ(complaint(*model, input_bytes(nullptr, 16), output_view(y)),
            "cannot run: input 'x': wrong size of the buffer: expected 16 bytes, f32 (4), found no buffer");
  EXPECT_EQ(complaint(*model, input_view(x, {2, 2}), output_view(y)),
            "cannot run: input 'x': wrong dimensions: expected (4), found (2, 2)");
  EXPECT_EQ(model->run({input_view(x), input_view(x)}, {output_view(y)}).message,
            "cannot run: the number of inputs is wrong: expected 1 (x), found 2");
}

// Every C++ type beside every element type: accepted where it holds its bits.
TEST(Model, TypesOfViews) {
  EXPECT_EQ(view_dtype<float>(), MOTE_F32);
  EXPECT_EQ(view_dtype<const double>(), MOTE_F64);
  EXPECT_EQ(view_dtype<bool>(), MOTE_BOOL);
  EXPECT_EQ(view_dtype<long long>(), MOTE_S64);
  EXPECT_EQ(view_dtype<unsigned long long>(), MOTE_U64);
  struct Half {
    uint16_t bits;
  };
  EXPECT_EQ(view_dtype<Half>(), kUntyped);
  const std::vector<mote_dtype> views = {view_dtype<float>(),   view_dtype<double>(),   view_dtype<int8_t>(),  view_dtype<uint8_t>(),
                                         view_dtype<int16_t>(), view_dtype<uint16_t>(), view_dtype<int32_t>(), view_dtype<uint32_t>(),
                                         view_dtype<int64_t>(), view_dtype<uint64_t>(), view_dtype<bool>()};
  for (int tensor = MOTE_F32; tensor <= MOTE_U4; ++tensor) {
    int accepted = 0;
    for (const mote_dtype v : views) accepted += api_detail::holds(v, static_cast<mote_dtype>(tensor)) ? 1 : 0;
    EXPECT_EQ(accepted, tensor == MOTE_BOOL ? 2 : 1) << mote_dtype_name(static_cast<mote_dtype>(tensor));
    EXPECT_TRUE(api_detail::holds(kUntyped, static_cast<mote_dtype>(tensor)));
  }
}

TEST(Model, DynamicSizesComeWithTheViews) {
  const emit::FileBytes file = dynamic_relu();
  auto model = load(file);
  ASSERT_TRUE(model);
  const std::vector<float> x = {-1, 2, 3, -4, 5, 6};
  std::vector<float> y(16);
  std::vector<OutputView> out = {output_view(y)};
  ASSERT_FALSE(model->run({input_view(x, {3, 2})}, out));
  EXPECT_EQ(out[0].dims, (std::vector<int32_t>{3, 2}));
  EXPECT_EQ(y[5], 6);
  // A run without sizes is one of the largest, whatever the run before it had.
  EXPECT_EQ(complaint(*model, input_view(x), output_view(y)),
            "cannot run: input 'x': wrong size of the buffer: expected 64 bytes, f32 (8, 2), found 24 bytes");
  const std::vector<float> all(16, 1);
  ASSERT_FALSE(model->run({input_view(all)}, out));
  EXPECT_EQ(out[0].dims, (std::vector<int32_t>{8, 2}));
  EXPECT_EQ(complaint(*model, input_view(all, {9, 2}), output_view(y)),
            "cannot run: input 'x': wrong dimensions: expected at most (8, 2), found (9, 2)");
}

TEST(Model, MemoryLimit) {
  const emit::FileBytes file = add_relu();
  const uint64_t needed = load(file)->allocated_bytes();
  ModelOptions options;
  options.memory_limit_bytes = needed;
  EXPECT_TRUE(load(file, options));
  options.memory_limit_bytes = needed - 1;
  EXPECT_EQ(load(file, options).error().code(), MOTE_OUT_OF_MEMORY);
}

// A file of 50 kB, whose inputs all have the same long name.
TEST(Model, MemoryLimitCountsNames) {
  emit::ProgramBuilder b;
  b.begin_method("main");
  const std::string name(30000, 'n');
  emit::TensorId last = -1;
  for (int i = 0; i < 200; ++i) last = b.input(name, DType::f32, {1});
  b.output("y", b.op(OpId::relu, NoAttrs{}, {last}));
  const emit::FileBytes file = finish(b);
  ASSERT_LT(file.size, 60000u);
  ModelOptions options;
  options.memory_limit_bytes = 1u << 20;
  EXPECT_EQ(load(file, options).error().code(), MOTE_OUT_OF_MEMORY);
  options.memory_limit_bytes = 8u << 20;
  const auto model = load(file, options);
  ASSERT_TRUE(model) << model.error().message;
  EXPECT_GT(model->allocated_bytes(), 200u * 30000u);
}

TEST(Model, RunsAsynchronouslyInOrder) {
  const emit::FileBytes file = counter();
  auto model = load(file);
  ASSERT_TRUE(model);
  const float one = 1;
  std::vector<float> y(20);
  std::vector<int> order;
  std::vector<Ticket> tickets;
  const std::thread::id here = std::this_thread::get_id();
  for (int i = 0; i < 20; ++i)
    tickets.push_back(model->run_async({{&one, sizeof one, {}}}, {{&y[static_cast<size_t>(i)], sizeof(float), {}}},
                                       [&order, i, here](const Error& e, const std::vector<OutputView>& out) {
                                         EXPECT_FALSE(e) << e.message;
                                         EXPECT_EQ(out.size(), 1u);
                                         EXPECT_NE(std::this_thread::get_id(), here);
                                         order.push_back(i);
                                       }));
  for (const Ticket& t : tickets) t.wait();
  for (int i = 0; i < 20; ++i) {
    EXPECT_EQ(order[static_cast<size_t>(i)], i);
    EXPECT_EQ(y[static_cast<size_t>(i)], static_cast<float>(i + 1));
    EXPECT_TRUE(tickets[static_cast<size_t>(i)].done());
  }
}

TEST(Model, ACancelledRunStillCallsBack) {
  const emit::FileBytes file = add_relu();
  auto model = load(file);
  std::mutex gate;
  std::vector<float> x(4), y(4);
  gate.lock();
  // The first run's callback holds the queue until the second was cancelled.
  Ticket first =
      model->run_async({input_view(x)}, {output_view(y)}, [&](const Error&, const auto&) { const std::lock_guard<std::mutex> wait(gate); });
  std::atomic<int> code{-1};
  Ticket second = model->run_async({input_view(x)}, {output_view(y)}, [&](const Error& e, const auto&) { code = e.code(); });
  second.cancel();
  gate.unlock();
  second.wait();
  EXPECT_EQ(code, MOTE_CANCELLED);
  EXPECT_EQ(second.error().code(), MOTE_CANCELLED);
  EXPECT_FALSE(first.error());
}

TEST(Model, DestroyingFinishesWhatIsQueued) {
  const emit::FileBytes file = add_relu();
  std::atomic<int> done{0};
  std::vector<float> x(4), y(4);
  {
    auto model = load(file);
    for (int i = 0; i < 10; ++i) (void)model->run_async({input_view(x)}, {output_view(y)}, [&](const Error&, const auto&) { ++done; });
  }
  EXPECT_EQ(done, 10);
}

TEST(Model, SwapsWhileAnotherThreadRuns) {
  const emit::FileBytes a = add_relu(1), b = add_relu(100);
  auto model = load(a);
  std::atomic<bool> stop{false};
  std::atomic<int> runs{0};
  std::thread runner([&] {
    const std::vector<float> x = {0, 0, 0, 0};
    while (!stop) {
      std::vector<float> y(4, -1);
      const Error e = model->run({input_view(x)}, {output_view(y)});
      ASSERT_FALSE(e) << e.message;
      // Every run is wholly of one program.
      ASSERT_TRUE(y == std::vector<float>(4, 1) || y == std::vector<float>(4, 100)) << y[0];
      ++runs;
    }
  });
  for (int i = 0; i < 50; ++i) {
    const emit::FileBytes& next = i % 2 == 0 ? b : a;
    ASSERT_FALSE(model->swap(next.data(), next.size));
  }
  while (runs < 10) std::this_thread::yield();
  stop = true;
  runner.join();
  EXPECT_EQ(model->swap("/no/such/file").code(), MOTE_IO);
  std::vector<float> x(4), y(4);
  EXPECT_FALSE(model->run({input_view(x)}, {output_view(y)}));
}

// For the thread sanitizer (preset tsan): everything that may be called from several threads, at once.
TEST(Model, ThreadsRunQueueSwapAndAskAtOnce) {
  const emit::FileBytes a = add_relu(1), b = add_relu(100);
  auto model = load(a);
  ASSERT_TRUE(model);
  const auto right = [](const std::vector<float>& y) { return y == std::vector<float>(4, 1) || y == std::vector<float>(4, 100); };
  const std::vector<float> x(4, 0);
  std::atomic<int> wrong{0}, called{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 2; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 100; ++i) {
        std::vector<float> y(4);
        if (model->run({input_view(x)}, {output_view(y)}) || !right(y)) ++wrong;
      }
    });
    threads.emplace_back([&] {
      std::vector<std::vector<float>> y(50, std::vector<float>(4));
      std::vector<Ticket> tickets;
      for (auto& out : y)
        tickets.push_back(model->run_async({input_view(x)}, {output_view(out)}, [&](const Error&, const auto&) { ++called; }));
      for (size_t i = 0; i < tickets.size(); ++i) {
        if (i % 7 == 3) tickets[i].cancel();
        tickets[i].wait();
        if (tickets[i].error() ? tickets[i].error().code() != MOTE_CANCELLED : !right(y[i])) ++wrong;
      }
    });
  }
  threads.emplace_back([&] {
    for (int i = 0; i < 50; ++i) {
      const emit::FileBytes& next = i % 2 == 0 ? b : a;
      if (model->swap(next.data(), next.size)) ++wrong;
      if (model->inputs().size() != 1 || model->allocated_bytes() == 0 || model->metadata("name") != "add-relu") ++wrong;
      model->reset_state();
    }
  });
  for (std::thread& t : threads) t.join();
  EXPECT_EQ(wrong, 0);
  EXPECT_EQ(called, 100);
}

TEST(Model, ResetsState) {
  const emit::FileBytes file = counter();
  auto model = load(file);
  const std::vector<float> one = {1};
  std::vector<float> y(1);
  ASSERT_FALSE(model->run({input_view(one)}, {output_view(y)}));
  ASSERT_FALSE(model->run({input_view(one)}, {output_view(y)}));
  EXPECT_EQ(y[0], 2);
  model->reset_state();
  ASSERT_FALSE(model->run({input_view(one)}, {output_view(y)}));
  EXPECT_EQ(y[0], 1);
}

TEST(Model, DeadlinesAndStepLimits) {
  const emit::FileBytes file = add_relu();
  auto model = load(file);
  std::vector<float> x(4), y(4);
  RunOptions o;
  o.max_steps = 1;
  EXPECT_EQ(model->run({input_view(x)}, {output_view(y)}, o).code(), MOTE_STEP_LIMIT);
  o = {};
  o.deadline_ns = 1;
  EXPECT_EQ(model->run({input_view(x)}, {output_view(y)}, o).code(), MOTE_DEADLINE);
}

}  // namespace
}  // namespace mote
