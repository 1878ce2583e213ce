// Which stages run, how often and in which order.

#include <gtest/gtest.h>

#include <algorithm>

#include "mote/compiler/driver/compile.h"
#include "mote/compiler/ir/builder.h"

namespace mote::driver {
namespace {

// y = tanh(exp(x)), without a file. *imports counts how often it is read.
frontends::Source two_step_model(int* imports) {
  frontends::Source source;
  source.path = "made here";
  source.format = "test";
  source.import = [imports](const frontends::ImportOptions&, ir::Graph& g, ir::Problems*) {
    ++*imports;
    auto& m = g.add_method("main");
    ir::Value* x = g.add_input(m, "x", DType::f32, {1, 64});
    ir::NodeBuilder b(g, *m.block, "n");
    g.add_output(m, "y", b.op(OpId::tanh, {b.op(OpId::exp, {x})}));
    return true;
  };
  return source;
}

std::vector<std::string> stages_of(const CompileOptions& options, int* imports = nullptr) {
  int ignored = 0;
  CompileResult result;
  ir::Problems problems;
  EXPECT_TRUE(compile(two_step_model(imports != nullptr ? imports : &ignored), options, &result, &problems));
  for (const ir::Problem& p : problems) ADD_FAILURE() << p.where << ": " << p.what;
  std::vector<std::string> names;
  for (const auto& [name, seconds] : result.stage_seconds) names.push_back(name);
  return names;
}

using Names = std::vector<std::string>;

TEST(Stages, AModelIsPlannedOnce) {
  CompileOptions o;
  o.golden.count = 0;
  EXPECT_EQ(stages_of(o), (Names{"import", "passes", "plan", "lower", "write"}));
}

TEST(Stages, PlacementComesBeforeTheOnlyPlan) {
  CompileOptions o;
  o.golden.count = 0;
  o.policy.text = "[default]\n";  // a policy asks for placement, even with the CPU alone
  EXPECT_EQ(stages_of(o), (Names{"import", "passes", "place", "plan", "lower", "write"}));
}

TEST(Stages, ExamplesOfAPlacedModelHaveAPlanOfTheirOwn) {
  CompileOptions o;
  o.policy.text = "[default]\n";
  const Names names = stages_of(o);
  const auto at = [&](const char* name) { return std::find(names.begin(), names.end(), name) - names.begin(); };
  EXPECT_EQ(std::count(names.begin(), names.end(), "plan for the CPU"), 1);
  EXPECT_EQ(std::count(names.begin(), names.end(), "plan"), 1);
  EXPECT_LT(at("plan for the CPU"), at("check"));
  EXPECT_LT(at("check"), at("place"));
  EXPECT_LT(at("place"), at("plan"));
}

TEST(Stages, ProgressNeverGoesBack) {
  for (const char* policy : {"", "[default]\n"}) {
    CompileOptions o;
    double last = 0;
    o.policy.text = policy;
    o.progress = [&](const std::string& stage, double fraction) {
      EXPECT_GE(fraction, last) << stage;
      last = fraction;
    };
    stages_of(o);
  }
}

TEST(Stages, ScratchMemoryOfEmittedKernelsIsTakenFromThePlanAlone) {
  int imports = 0;
  CompileOptions o;
  o.golden.count = 0;
  o.plan.in_place = false;
  o.plan.in_order = [](const schedule::Plan& p) { return std::vector<bool>(p.steps.size(), false); };
  o.plan.strip_ram = 300;
  std::vector<uint64_t> plans;
  o.scratch_bytes = [&](const program::ProgramRecords& records) {
    plans.push_back(records.banks[0].size);
    return uint64_t{100};
  };
  const Names names = stages_of(o, &imports);
  ASSERT_EQ(plans.size(), 1u);
  EXPECT_GT(plans[0] + 100, o.plan.strip_ram) << "the case must need a smaller plan";
  EXPECT_EQ(std::count(names.begin(), names.end(), "plan"), 2);
  EXPECT_EQ(std::count(names.begin(), names.end(), "passes"), 1);
  EXPECT_EQ(imports, 1) << "the model is not read again";
}

TEST(Stages, TheQuantizerSeesFusedFloatsOnce) {
  CompileOptions o;
  o.golden.count = 0;
  int calls = 0;
  o.quantize = [&](ir::Graph& g, std::string*) {
    ++calls;
    EXPECT_EQ(g.methods[0].block->nodes.size(), 2u);
    return true;
  };
  stages_of(o);
  EXPECT_EQ(calls, 1);
  o.quantize = [](ir::Graph&, std::string* error) {
    *error = "no data";
    return false;
  };
  CompileResult result;
  ir::Problems problems;
  EXPECT_FALSE(compile(two_step_model(&calls), o, &result, &problems));
  ASSERT_EQ(problems.size(), 1u);
  EXPECT_EQ(problems[0].what, "no data");
}

}  // namespace
}  // namespace mote::driver
