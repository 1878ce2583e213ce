#pragma once

// Kernels as a driver compiled them, kept between processes: files in MOTE_OPENCL_CACHE, or in mote/opencl of the user's cache folder. An
// empty MOTE_OPENCL_CACHE keeps nothing. What cannot be read or written is left alone: kernels are then compiled again.

#include <string>
#include <vector>

namespace mote::backends::opencl {

// A name for what these texts (device, driver, options, source) give together.
std::string binary_key(const std::vector<std::string>& parts);

bool load_binary(const std::string& key, std::vector<unsigned char>* out);
void store_binary(const std::string& key, const std::vector<unsigned char>& binary);

}  // namespace mote::backends::opencl
