#pragma once

namespace mote::backends::opencl {

constexpr const char* kName = "opencl";
constexpr const char* kVersion = "1";  // of the blobs: raised when an older backend cannot run what a newer compiler makes
constexpr const char* kCapabilities = "f32";

}  // namespace mote::backends::opencl
