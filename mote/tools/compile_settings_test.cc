#include "mote/tools/compile_settings.h"

#include <gtest/gtest.h>

#include "mote/tools/testing/onnx.h"

namespace mote::tools {
namespace {

namespace onnx = cli_test::onnx;

bool asked = false;
KernelFn select(uint16_t, const OpContext&) noexcept {
  asked = true;
  return nullptr;  // portable kernels are right, too
}

// Whether the kernels for large models are asked for when an example is made.
bool fast_kernels_are_asked(driver::CompileOptions options) {
  const std::string text =
      onnx::model(onnx::node("MatMul", "product", {"x", "x"}, "y") + onnx::input("x", {128, 128}) + onnx::output("y", {128, 128}));
  frontends::Source source;
  source.path = "product.onnx";
  source.bytes = ir::Bytes::copy_of(text.data(), text.size());
  options.golden.check_macs = std::min<uint64_t>(options.golden.check_macs, 1000000);  // 128 x 128 x 128 are more
  options.golden.kernel_work = 0;
  driver::CompileResult result;
  ir::Problems problems;
  asked = false;
  EXPECT_TRUE(driver::compile(source, options, &result, &problems));
  return asked;
}

TEST(CompileSettings, AskedExamplesOfLargeModelsTakeFastKernelsToo) {
  driver::CompileOptions o = options_of({});
  o.golden.select = &select;
  EXPECT_TRUE(fast_kernels_are_asked(o));
  ask_for_examples(2, &o);
  EXPECT_EQ(o.golden.count, 2);
  EXPECT_EQ(o.golden.work, 0u) << "whatever they cost";
  EXPECT_TRUE(fast_kernels_are_asked(o));
  o = options_of({});
  o.golden.select = nullptr;
  o.select = &select;
  ask_for_examples(1, &o);
  EXPECT_TRUE(fast_kernels_are_asked(o));
  // Without any the portable ones check the example all the same.
  o.select = nullptr;
  ask_for_examples(1, &o);
  EXPECT_EQ(o.golden.check_macs, 0u);
  EXPECT_FALSE(fast_kernels_are_asked(o));
}

}  // namespace
}  // namespace mote::tools
