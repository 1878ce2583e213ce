#pragma once

namespace mote::backends::opencl {

constexpr const char* kName = "opencl";
constexpr const char* kVersion = "3";       // of the blobs: raised when an older backend cannot run what a newer compiler makes
constexpr const char* kOlderVersion = "2";  // which this backend runs, too
constexpr const char* kCapabilities = "f32 opencl-1.2";
constexpr const char* kHalfName = "opencl_f16";  // the same device, tensors stored as f16
constexpr const char* kHalfCapabilities = "f32 opencl-1.2 f16-storage";
constexpr const char* kHalfMathName = "opencl_f16a";  // and products that multiply in f16
constexpr const char* kHalfMathCapabilities = "f32 opencl-1.2 f16-storage cl_khr_fp16";
constexpr const char* kHalfExtension = "cl_khr_fp16";  // of these

}  // namespace mote::backends::opencl
