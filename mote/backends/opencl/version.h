#pragma once

namespace mote::backends::opencl {

constexpr const char* kName = "opencl";
constexpr const char* kVersion = "2";  // of the blobs: raised when an older backend cannot run what a newer compiler makes
constexpr const char* kCapabilities = "f32 opencl-1.2";
constexpr const char* kHalfName = "opencl_f16";  // the same device, tensors stored as f16
constexpr const char* kHalfCapabilities = "f32 opencl-1.2 f16-storage";

}  // namespace mote::backends::opencl
