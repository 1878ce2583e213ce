#pragma once

#include <string>
#include <vector>

namespace mote::tools {

struct Sound {
  uint32_t rate = 0;           // samples a second
  std::vector<float> samples;  // -1..1, channels mixed into one
};

// A RIFF file with PCM of 8 to 32 bits or 32-bit floats. False and *error for anything else; never reads outside `bytes`.
bool parse_wav(const std::vector<uint8_t>& bytes, Sound* out, std::string* error);

}  // namespace mote::tools
