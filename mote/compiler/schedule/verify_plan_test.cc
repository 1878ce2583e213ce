// What verify_plan refuses; and programs as text, which need plans to be made of.

#include "mote/compiler/schedule/verify_plan.h"
#include "mote/compiler/assemble/compile_graph.h"

#include <functional>
#include <random>

#include "mote/compiler/program/program_text.h"
#include "mote/compiler/schedule/testing/random_graph.h"
#include "mote/compiler/schedule/testing/run_graph.h"

namespace mote::schedtest {
namespace {

using schedule::Plan;

Plan plan_of(uint32_t seed, uint32_t nodes) {
  ir::Graph g;
  std::mt19937 random(seed);
  make_random_graph(g, random, nodes);
  Plan plan;
  std::string error;
  EXPECT_TRUE(schedule::make_plan(g, {}, &plan, &error)) << error;
  return plan;
}

TEST(VerifyPlan, NamesWhatIsWrong) {
  ir::Graph g;
  auto& m = g.add_method("main");
  ir::Value* x = g.add_input(m, "x", DType::f32, {4, 8});
  ir::NodeBuilder b(g, *m.block, "node");
  ir::Value *p = b.op(OpId::exp, {x}), *q = b.op(OpId::softmax, {x});
  g.add_output(m, "y", b.op(OpId::matmul, {p, b.transpose(q, {1, 0})}));
  Plan good;
  std::string error;
  schedule::PlanOptions as_written;
  as_written.reorder = false;
  ASSERT_TRUE(schedule::make_plan(g, as_written, &good, &error)) << error;
  ASSERT_GE(good.buffers.size(), 2u);
  ASSERT_TRUE(schedule::verify_plan(good, emit::builtin_registry(), &error)) << error;
  const std::vector<std::pair<const char*, std::function<void(Plan&)>>> cases = {
      {"while both are needed",
       [](Plan& bad) {
         const auto buffer = [&](size_t step) { return static_cast<size_t>(bad.tensor(bad.steps[step].outputs[0]).place); };
         bad.buffers[buffer(1)].offset = bad.buffers[buffer(0)].offset;
       }},
      {"outside", [](Plan& bad) { bad.buffers[0].offset = bad.banks[0].size; }},
      {"needs bytes", [](Plan& bad) { bad.buffers[0].bytes = 3; }},
      {"no tensor", [](Plan& bad) { bad.steps[0].inputs[0] = 999; }},
      {"constant or an input", [](Plan& bad) { bad.steps[0].outputs[0] = bad.methods[0].inputs[0].tensor; }},
      {"another type", [](Plan& bad) { bad.tensor(bad.steps[0].outputs[0]).desc.dtype = DType::s32; }},
      {"unknown operator", [](Plan& bad) { bad.steps[0].op = 0x7fff; }},
      {"not its own", [](Plan& bad) { bad.methods[0].step_count += 5; }},
      {"no method", [](Plan& bad) { bad.methods[0].step_count -= 1; }},
      {"ends outside",
       [](Plan& bad) {
         bad.steps[0].op = static_cast<uint16_t>(ControlOp::kLoop);
         bad.steps[0].body = 100;
       }},
      {"over tensor",
       [](Plan& bad) {
         schedule::Step& last = bad.steps.back();
         const TensorDesc out = bad.tensor(last.outputs[0]).desc;
         schedule::Tensor& t = bad.tensor(last.outputs[0]);
         t = bad.tensor(last.inputs[0]);
         t.desc = out;
         t.desc.storage = Storage::kArena;
         bad.buffers[static_cast<size_t>(t.place)].bytes = 4096;
         bad.banks[0].size = 1 << 20;
       }},
  };
  for (const auto& [what, spoil] : cases) {
    Plan bad = good;
    spoil(bad);
    error.clear();
    EXPECT_FALSE(schedule::verify_plan(bad, emit::builtin_registry(), &error)) << what;
    EXPECT_NE(error.find(what), std::string::npos) << error;
  }
}

TEST(ProgramText, RoundTripsToTheSameBytes) {
  for (uint32_t seed = 0; seed < 40; ++seed) {
    emit::ProgramRecords records, back;
    std::string error;
    ASSERT_TRUE(assemble::lower(plan_of(seed, 5 + seed % 20), {}, &records, &error)) << error;
    emit::FileBytes file, again;
    ASSERT_TRUE(emit::write_program(records, {}, emit::builtin_registry(), &file, &error)) << error;
    ASSERT_TRUE(emit::read_records(file.span(), &records));
    const std::string text = program::print(records);
    ASSERT_TRUE(program::parse(text, &back, &error)) << error;
    EXPECT_EQ(program::print(back), text);
    ASSERT_TRUE(emit::write_program(back, {}, emit::builtin_registry(), &again, &error)) << error;
    ASSERT_EQ(file.size, again.size);
    EXPECT_EQ(std::memcmp(file.data(), again.data(), file.size), 0);
  }
}

TEST(ProgramText, WrongTextsAreRefused) {
  emit::ProgramRecords records, out;
  std::string error;
  ASSERT_TRUE(assemble::lower(plan_of(1, 12), {}, &records, &error)) << error;
  EXPECT_FALSE(program::parse(program::print(records, false), &out, &error)) << "bytes are missing";
  for (const char* bad : {"bank name x", "tensor 0 f33 1 arena 0 at 0 layout 0", "do frob 1 -> 2 {}", "do relu 0 -> 1 {a=1}",
                          "io tensor -1 name \"\"", "golden"}) {
    error.clear();
    EXPECT_FALSE(program::parse(bad, &out, &error)) << bad;
    EXPECT_EQ(error.rfind("line 1: ", 0), 0u) << error;
  }
}

TEST(Lower, EqualConstantsAreStoredOnceAndTheSameGraphGivesTheSameBytes) {
  emit::FileBytes files[2];
  for (emit::FileBytes& file : files) {
    ir::Graph g;
    auto& m = g.add_method("main");
    ir::Value* x = g.add_input(m, "x", DType::f32, {1000});
    ir::NodeBuilder b(g, *m.block, "node");
    const std::vector<float> ones(1000, 1.0f);
    ir::Value* y = b.op(OpId::add, {b.op(OpId::add, {x, g.constant<float>({1000}, ones)}), g.constant<float>({1000}, ones)});
    g.add_output(m, "y", y);
    std::string error;
    ASSERT_TRUE(assemble::compile_graph(g, &file, &error)) << error;
  }
  emit::ProgramRecords r;
  ASSERT_TRUE(emit::read_records(files[0].span(), &r));
  EXPECT_EQ(r.segments[0].bytes.size(), 4000u);
  ASSERT_EQ(files[0].size, files[1].size);
  EXPECT_EQ(std::memcmp(files[0].data(), files[1].data(), files[0].size), 0);
}

}  // namespace
}  // namespace mote::schedtest
