#include "mote/tools/wav.h"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace mote::tools {
namespace {

constexpr uint16_t kPcm = 1, kFloat = 3, kExtensible = 0xfffe;

struct Format {
  uint16_t kind = 0, channels = 0, bits = 0;
  uint32_t rate = 0;
};

uint32_t number(const uint8_t* p, int bytes) {
  uint32_t v = 0;
  for (int i = 0; i < bytes; ++i) v |= static_cast<uint32_t>(p[i]) << 8 * i;
  return v;
}

float one(const uint8_t* p, const Format& f) {
  if (f.kind == kFloat) {
    float v;
    std::memcpy(&v, p, sizeof v);
    return std::isfinite(v) ? v : 0;
  }
  if (f.bits == 8) return (static_cast<float>(*p) - 128) / 128;
  // In the upper bits, so that the sign is the number's own.
  const auto v = static_cast<int32_t>(number(p, f.bits / 8) << (32 - f.bits));
  return static_cast<float>(v) / 2147483648.0f;
}

bool known(const Format& f) {
  if (f.channels == 0 || f.channels > 64 || f.rate == 0) return false;
  if (f.kind == kFloat) return f.bits == 32;
  return f.kind == kPcm && (f.bits == 8 || f.bits == 16 || f.bits == 24 || f.bits == 32);
}

}  // namespace

bool parse_wav(const std::vector<uint8_t>& bytes, Sound* out, std::string* error) {
  const uint8_t* p = bytes.data();
  if (bytes.size() < 12 || std::memcmp(p, "RIFF", 4) != 0 || std::memcmp(p + 8, "WAVE", 4) != 0) {
    *error = "not a sound: expected a RIFF/WAVE file";
    return false;
  }
  Format f;
  for (size_t at = 12; at + 8 <= bytes.size();) {
    const size_t size = std::min<size_t>(number(p + at + 4, 4), bytes.size() - at - 8);
    const uint8_t* body = p + at + 8;
    if (std::memcmp(p + at, "fmt ", 4) == 0 && size >= 16) {
      f.kind = static_cast<uint16_t>(number(body, 2));
      f.channels = static_cast<uint16_t>(number(body + 2, 2));
      f.rate = number(body + 4, 4);
      f.bits = static_cast<uint16_t>(number(body + 14, 2));
      if (f.kind == kExtensible && size >= 26) f.kind = static_cast<uint16_t>(number(body + 24, 2));
    } else if (std::memcmp(p + at, "data", 4) == 0) {
      if (!known(f)) {
        *error = "expected PCM of 8, 16, 24 or 32 bits or 32-bit floats, found format " + std::to_string(f.kind) + " with " +
                 std::to_string(f.bits) + " bits";
        return false;
      }
      const size_t width = f.bits / 8, frame = width * f.channels;
      out->rate = f.rate;
      out->samples.clear();
      for (size_t i = 0; i + frame <= size; i += frame) {
        float sum = 0;
        for (size_t c = 0; c < f.channels; ++c) sum += one(body + i + c * width, f);
        out->samples.push_back(sum / f.channels);
      }
      return true;
    }
    at += 8 + size + size % 2;
  }
  *error = "the sound has no data";
  return false;
}

}  // namespace mote::tools
