// What --tolerance and --sqnr mean, case by case.

#include "mote/tools/judgement.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

namespace mote::tools {
namespace {

driver::Array floats(const std::vector<float>& values) {
  driver::Array a{DType::f32, {static_cast<int64_t>(values.size())}, std::vector<uint8_t>(4 * values.size())};
  std::memcpy(a.data.data(), values.data(), a.data.size());
  return a;
}
driver::Array bytes(const std::vector<uint8_t>& values) { return {DType::u8, {static_cast<int64_t>(values.size())}, values}; }

constexpr double kNotGiven = -1;

TEST(Judgement, ByTable) {
  const driver::Array ones = floats({1, -1, 1, -1}), tiny = floats({1e-6f, 0, 0, 0});
  const struct {
    const char* what;
    driver::Array found, expected;
    double tolerance, sqnr;
    bool quantized, right;
  } cases[] = {
      {"within 1e-4 of the largest", floats({1.00009f, -1, 1, -1}), ones, kNotGiven, kNotGiven, false, true},
      {"beyond it", floats({1.0002f, -1, 1, -1}), ones, kNotGiven, kNotGiven, false, false},
      {"small elements beside large ones", floats({1000.05f, 0.05f}), floats({1000, 0}), kNotGiven, kNotGiven, false, true},
      {"below the floor, though far from the largest", floats({1.4e-6f, 0, 0, 0}), tiny, kNotGiven, kNotGiven, false, true},
      {"above the floor", floats({1.6e-6f, 0, 0, 0}), tiny, kNotGiven, kNotGiven, false, false},
      {"a tolerance turns the floor off", floats({1.4e-6f, 0, 0, 0}), tiny, 1e-4, kNotGiven, false, false},
      {"and stands in place of 1e-4", floats({1.4e-6f, 0, 0, 0}), tiny, 0.5, kNotGiven, false, true},
      {"a tolerance may be smaller", floats({1.00009f, -1, 1, -1}), ones, 1e-5, kNotGiven, false, false},
      {"0: the same bits", ones, ones, 0, kNotGiven, false, true},
      {"0: no others", floats({1.0000001f, -1, 1, -1}), ones, 0, kNotGiven, false, false},
      {"34 dB are no help for floats", floats({1.02f, -1.02f, 1.02f, -1.02f}), ones, kNotGiven, kNotGiven, false, false},
      {"but for quantized models", floats({1.02f, -1.02f, 1.02f, -1.02f}), ones, kNotGiven, kNotGiven, true, true},
      {"28 dB are too few", floats({1.04f, -1.04f, 1.04f, -1.04f}), ones, kNotGiven, kNotGiven, true, false},
      {"a tolerance turns the 30 dB off", floats({1.02f, -1.02f, 1.02f, -1.02f}), ones, 1e-3, kNotGiven, true, false},
      {"--sqnr beside it counts", floats({1.02f, -1.02f, 1.02f, -1.02f}), ones, 1e-3, 30, true, true},
      {"--sqnr in place of 30", floats({1.02f, -1.02f, 1.02f, -1.02f}), ones, kNotGiven, 35, true, false},
      {"--sqnr for any model", floats({1.02f, -1.02f, 1.02f, -1.02f}), ones, kNotGiven, 30, false, true},
      {"--sqnr leaves the tolerance", floats({1.00009f, -1, 1, -1}), ones, kNotGiven, 200, false, true},
      {"--sqnr 0 turns the 30 dB off", floats({1.02f, -1.02f, 1.02f, -1.02f}), ones, kNotGiven, 0, true, false},
      {"integers: the same bits", bytes({1, 2, 200}), bytes({1, 2, 200}), kNotGiven, kNotGiven, false, true},
      {"integers: not one off", bytes({1, 2, 201}), bytes({1, 2, 200}), kNotGiven, kNotGiven, false, false},
      {"integers: a tolerance is one of floats", bytes({1, 2, 201}), bytes({1, 2, 200}), 0.5, kNotGiven, false, false},
      {"integers of quantized models: a ratio", bytes({1, 2, 201}), bytes({1, 2, 200}), kNotGiven, kNotGiven, true, true},
      {"NaN on one side", floats({NAN, -1, 1, -1}), ones, 0.5, 1, false, false},
      {"NaN on both", floats({NAN, -1}), floats({NAN, -1}), kNotGiven, kNotGiven, false, true},
      {"another size", floats({1, -1, 1}), ones, 0.5, 1, false, false},
      {"another type", bytes({1}), floats({1}), 0.5, 1, false, false},
  };
  for (const auto& c : cases) EXPECT_EQ(agrees(c.found, c.expected, judgement_of(c.tolerance, c.sqnr, c.quantized)), c.right) << c.what;
}

TEST(Judgement, SaysWhatCounts) {
  EXPECT_EQ(judgement_of(kNotGiven, kNotGiven, false).text(), "largest error within 0.0001 of the largest value, or 5e-07");
  EXPECT_EQ(judgement_of(kNotGiven, kNotGiven, true).text(),
            "largest error within 0.0001 of the largest value, or 5e-07; or SQNR of 30.0 dB");
  EXPECT_EQ(judgement_of(0, kNotGiven, true).text(), "the same bits");
  EXPECT_EQ(judgement_of(0.01, 20, false).text(), "largest error within 0.01 of the largest value; or SQNR of 20.0 dB");
  const std::string help = how_it_judges();
  for (const char* part : {"0.0001 of the largest", "5e-07 absolute", "30 dB", "0.001 of the", "1e-05", "0.02", "same bits", "one off"})
    EXPECT_NE(help.find(part), std::string::npos) << part << "\n" << help;
}

}  // namespace
}  // namespace mote::tools
