#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include "mote/core/layout.h"
#include "mote/core/result.h"
#include "mote/core/status.h"

namespace mote {
namespace {

float f16_value(uint16_t bits) {
  f16 h;
  h.bits = bits;
  return h;
}

TEST(Half, EveryF16SurvivesTheRoundTrip) {
  for (uint32_t u = 0; u < 65536; ++u) {
    const float x = f16_value(static_cast<uint16_t>(u));
    if (std::isnan(x)) EXPECT_TRUE(std::isnan(static_cast<float>(f16(x))));
    else EXPECT_EQ(f16(x).bits, u);
  }
}

// Between two neighbours the nearer one is taken, and the even one in the middle: from float and, with one rounding, from double.
TEST(Half, ConversionsRoundToNearestEven) {
  for (uint32_t u = 0; u < 0x7bff; ++u) {
    const double low = f16_value(static_cast<uint16_t>(u)), high = f16_value(static_cast<uint16_t>(u + 1)), middle = (low + high) / 2;
    const uint16_t even = static_cast<uint16_t>(u % 2 == 0 ? u : u + 1);
    EXPECT_EQ(f16(static_cast<float>(middle)).bits, even);
    EXPECT_EQ(f16(-static_cast<float>(middle)).bits, even | 0x8000);
    EXPECT_EQ(f16(middle).bits, even);
    EXPECT_EQ(f16(std::nextafter(middle, 0)).bits, u) << "a double just below the middle must not be rounded twice";
    EXPECT_EQ(f16(std::nextafter(middle, 1e9)).bits, u + 1);
  }
  EXPECT_EQ(f16(65519.0f).bits, 0x7bff);
  EXPECT_EQ(f16(65520.0f).bits, 0x7c00);
  EXPECT_EQ(f16(std::numeric_limits<float>::infinity()).bits, 0x7c00);
}

TEST(Half, Bf16RoundsToNearestEven) {
  EXPECT_EQ(bf16(1.0f).bits, 0x3f80);
  EXPECT_EQ(bf16(1.00390625f).bits, 0x3f80);  // the middle between 0x3f80 and 0x3f81
  EXPECT_EQ(bf16(1.01171875f).bits, 0x3f82);  // the middle between 0x3f81 and 0x3f82
  EXPECT_EQ(bf16(1.00390625 + 1e-12).bits, 0x3f81) << "double: one rounding";
  EXPECT_EQ(bf16(3.4e38f).bits, 0x7f80);
  EXPECT_TRUE(std::isnan(static_cast<float>(bf16(std::numeric_limits<float>::quiet_NaN()))));
}

TEST(StatusTest, HoldsCodeAndReason) {
  const Status s{Status::kShape, Why::kAxis};
  EXPECT_FALSE(s.ok());
  EXPECT_EQ(s.code(), Status::kShape);
  EXPECT_EQ(s.why(), Why::kAxis);
  EXPECT_EQ(Status::from_bits(s.bits()), s);
  EXPECT_TRUE(Status().ok());
  static_assert(sizeof(Status) == 4 && std::is_trivially_copyable_v<Status>, "passed in a register");
}

TEST(StatusTest, EveryReasonHasAText) {
  for (uint32_t v = 0; v < 300; ++v) {
    const Why why = static_cast<Why>(v);
    EXPECT_EQ(std::string(why_name(why)) == "Unknown", std::string(why_text(why)) == "unknown reason") << v;
  }
  EXPECT_STREQ(status_name(Status::kOutOfMemory), "OutOfMemory");
  EXPECT_STREQ(status_text(static_cast<Status::Code>(250)), "unknown status");
}

Result<int> half_of(int x) {
  if (x % 2 != 0) return Status(Status::kInvalidArgument);
  return x / 2;
}
Status quarter_of(int x, int* out) {
  MOTE_ASSIGN(const int half, half_of(x));
  MOTE_ASSIGN(*out, half_of(half));
  return Status::kOk;
}

TEST(ResultTest, CarriesAValueOrAStatus) {
  int out = 0;
  EXPECT_TRUE(quarter_of(12, &out).ok());
  EXPECT_EQ(out, 3);
  EXPECT_EQ(quarter_of(6, &out).code(), Status::kInvalidArgument);
  EXPECT_EQ(quarter_of(7, &out).code(), Status::kInvalidArgument);
}

TEST(DTypeTest, NamesRoundTrip) {
  for (uint8_t v = 1; v < kDTypeCount; ++v) EXPECT_EQ(dtype_from_name(dtype_name(static_cast<DType>(v))), static_cast<DType>(v));
  EXPECT_STREQ(dtype_name(DType::boolean), "bool");
  EXPECT_EQ(dtype_from_name("f8"), DType::kNone);
  EXPECT_EQ(dtype_bits(static_cast<DType>(200)), 0u);
}

TEST(LayoutTest, PanelsHoldEveryElementOnce) {
  struct Case {
    Layout layout;
    DType dtype;
  };
  for (const Case c : {Case{Layout::kPanel16, DType::f32}, Case{Layout::kPanel16, DType::f16}, Case{Layout::kPanel16k2, DType::bf16},
                       Case{Layout::kPanel16k4, DType::s8}}) {
    const uint32_t n_count = 19, k_count = 7, width = dtype_bytes(c.dtype);
    const uint64_t bytes = panel_bytes(c.layout, c.dtype, n_count, k_count);
    const PanelShape p = panel_shape(c.layout, c.dtype);
    EXPECT_EQ(bytes, 2u * ((k_count + p.k_group - 1) / p.k_group) * p.k_group * 16 * width);
    std::vector<bool> taken(bytes / width);
    for (uint32_t n = 0; n < n_count; ++n) {
      for (uint32_t k = 0; k < k_count; ++k) {
        const uint32_t at = panel_offset(c.layout, c.dtype, n, k, k_count) / width + k % p.k_group;
        ASSERT_LT(at, taken.size());
        EXPECT_FALSE(taken[at]);
        taken[at] = true;
      }
    }
  }
}

TEST(TensorTest, DenseMeansWithoutGaps) {
  TensorDesc d{};
  d.dtype = DType::f32;
  d.rank = 3;
  d.dims[0] = 2, d.dims[1] = 3, d.dims[2] = 4;
  set_dense_strides(d);
  EXPECT_TRUE(is_dense(d));
  EXPECT_EQ(d.strides[0], 48);
  EXPECT_EQ(element_count(d), 24);
  d.strides[0] = 64;
  EXPECT_FALSE(is_dense(d));
  d.dims[0] = 1;
  EXPECT_TRUE(is_dense(d)) << "a single row has no gap behind it";
}

}  // namespace
}  // namespace mote
