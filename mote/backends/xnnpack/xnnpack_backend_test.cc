// The backend through its interface alone; its operators are judged by backend_conformance. Skipped, by name, where there is no library.

#include "mote/backends/xnnpack/xnnpack_backend.h"

#include <gtest/gtest.h>

#include "mote/backends/xnnpack/xnn_api.h"

namespace mote::backends {
namespace {

TEST(Xnnpack, SaysWhatItCannotRun) {
  const mote_backend* b = xnnpack_backend();
  EXPECT_EQ(b->probe("2", ""), uint32_t{xnnpack::kVersionUnfit});
  EXPECT_EQ(b->probe("1", "f32 wings"), uint32_t{xnnpack::kCapabilityMissing});
  for (uint32_t e = 1; e <= xnnpack::kFailed; ++e) EXPECT_STRNE(b->describe(e), "");
  for (uint32_t e = xnnpack::kNoLibrary; e <= xnnpack::kNotThisCpu; ++e) {
    EXPECT_STRNE(b->describe(e), "");
    EXPECT_NE(e & MOTE_BACKEND_ABSENT, 0u);
  }
}

TEST(Xnnpack, RefusesDamagedBlobs) {
  const mote_backend* b = xnnpack_backend();
  if (const uint32_t absent = b->probe("1", "f32")) GTEST_SKIP() << b->describe(absent);
  alignas(16) const uint8_t nonsense[64] = {1, 2, 3};
  const mote_backend_blob blob = {nonsense, sizeof nonsense, "1", "f32", 0};
  void* handle = nullptr;
  uint32_t release = 0;
  EXPECT_EQ(b->init(&blob, nullptr, 0, nullptr, 0, &handle, &release), uint32_t{xnnpack::kBlobBroken});
  EXPECT_EQ(handle, nullptr);
}

}  // namespace
}  // namespace mote::backends
