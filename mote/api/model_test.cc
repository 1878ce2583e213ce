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
  EXPECT_NE(missing.error().message, "");
  const emit::FileBytes file = add_relu();
  ModelOptions options;
  options.method = "none";
  EXPECT_EQ(load(file, options).error().code(), MOTE_NOT_FOUND);
  auto model = load(file);
  std::vector<float> y(4);
  EXPECT_EQ(model->run({}, {output_view(y)}).code(), MOTE_INVALID_ARGUMENT);
  std::vector<float> small(3);
  const Error e = model->run({input_view(small)}, {output_view(y)});
  EXPECT_EQ(e.tensor, "x");
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
