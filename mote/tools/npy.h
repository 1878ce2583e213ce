#pragma once

// Arrays in numpy's .npy format, versions 1 to 3. Element types as Mote has them; bf16 is '<V2', as ml_dtypes stores it.

#include <cstdint>
#include <string>
#include <vector>

#include "mote/compiler/driver/values.h"

namespace mote::tools {

using NpyArray = driver::Array;

// Reads an array from the bytes of a file. Any byte order and element order is accepted. False and *error for anything else than a
// complete, plain array; never reads outside `bytes`.
bool parse_npy(const uint8_t* bytes, size_t size, NpyArray* out, std::string* error);
bool read_npy(const std::string& path, NpyArray* out, std::string* error);

// Format version 1.0; data starts at a multiple of 64, as numpy writes it.
std::vector<uint8_t> format_npy(const NpyArray& array);
bool write_npy(const std::string& path, const NpyArray& array, std::string* error);

}  // namespace mote::tools
