#pragma once

// A backend with blobs that no compiler of its own made, for tests over all backends that take pieces.

#include <gtest/gtest.h>

#include <cstring>
#include <functional>

#include "mote/backends/opencl/blob.h"
#include "mote/backends/reference/reference_backend.h"
#include "mote/backends/testing/fenced.h"
#include "mote/backends/testing/known_backends.h"
#include "mote/compiler/emit/builder.h"

namespace mote::backends {

using emit::ProgramBuilder;
using emit::ProgramRecords;
using emit::TensorId;

constexpr uint8_t kF32 = static_cast<uint8_t>(DType::f32), kS8 = static_cast<uint8_t>(DType::s8);

inline emit::FileBytes finished(ProgramBuilder& b, const std::function<void(ProgramRecords&)>& change = {}) {
  emit::FileBytes file;
  std::string error;
  EXPECT_TRUE(b.finish(&file, &error)) << error;
  if (!change) return file;
  ProgramRecords r;
  EXPECT_TRUE(emit::read_records(file.span(), &r));
  change(r);
  EXPECT_TRUE(emit::write_program(r, {}, emit::builtin_registry(), &file, &error)) << error;
  return file;
}

class HostileBlobs : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    const bool reference = std::string(GetParam()) == "reference";
    backend_ = reference ? reference_backend() : known_backend(GetParam()).device;
    if (backend_ == nullptr) GTEST_SKIP() << GetParam() << " is not in this build";
    if (const uint32_t absent = backend_->probe(backend_->version, "")) GTEST_SKIP() << backend_->describe(absent);
  }
  void TearDown() override {
    if (handle_ != nullptr) backend_->destroy(handle_);
  }

  // What its compiler would have emitted around a piece.
  emit::FileBytes blob_of(const emit::FileBytes& piece) const {
    std::vector<uint8_t> end;
    if (std::string(GetParam()) == "opencl") end = opencl::bytes_of({});
    emit::FileBytes blob = emit::FileBytes::of_size(piece.size + end.size());
    std::memcpy(blob.data(), piece.data(), piece.size);
    std::copy(end.begin(), end.end(), blob.data() + piece.size);
    return blob;
  }

  uint32_t init(const emit::FileBytes& piece, const std::vector<mote_backend_tensor>& in, const std::vector<mote_backend_tensor>& out) {
    blob_ = blob_of(piece);
    const mote_backend_blob view = {blob_.data(), blob_.size, backend_->version, "", 0};
    uint32_t release = 0;
    return backend_->init(&view, in.data(), static_cast<uint32_t>(in.size()), out.data(), static_cast<uint32_t>(out.size()), &handle_,
                          &release);
  }
  uint32_t execute(const std::vector<mote_backend_tensor>& in, const std::vector<mote_backend_tensor>& out) {
    return backend_->execute(handle_, in.data(), static_cast<uint32_t>(in.size()), out.data(), static_cast<uint32_t>(out.size()));
  }

  const mote_backend* backend_ = nullptr;
  emit::FileBytes blob_;
  void* handle_ = nullptr;
};

inline std::string name_of(const testing::TestParamInfo<const char*>& info) { return info.param; }
inline auto all_backends() { return testing::Values("reference", "xnnpack", "opencl"); }

}  // namespace mote::backends
