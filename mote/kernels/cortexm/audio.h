#pragma once

// The audio front end, the state of streaming programs, and copies. Uses the arithmetic of the portable operators
// (mote/ops/common/audio.h).

#include <cstring>

#include "mote/ops/common/audio.h"

namespace mote::cortexm {

struct AudioMel {
  ops::audio::Mel mel;
  const int32_t* bands;
  const uint16_t* weights;
  int32_t frames, channels, step, lead;
};

inline void audio_mel(const AudioMel& a, const int16_t* x, uint32_t* y, int32_t* z) {
  for (int32_t t = 0; t < a.frames; ++t) {
    const int32_t at = a.lead + t * a.step;
    ops::audio::load_frame(a.mel, x + at, at > 0 ? x[at - 1] : int16_t{0}, z);
    ops::audio::spectrum(a.mel, z);
    const uint16_t* weights = a.weights;
    for (const int32_t* band = a.bands; band < a.bands + 2 * a.channels; weights += band[1], band += 2)
      *y++ = ops::audio::mel_channel(a.mel, z, band, weights);
  }
}

struct AudioPcan {
  ops::audio::Pcan pcan;
  int32_t frames, channels;
};

inline void audio_pcan(const AudioPcan& a, const uint32_t* old, const uint32_t* x, uint32_t* noise, uint32_t* y) {
  if (noise != old) std::memcpy(noise, old, static_cast<size_t>(a.channels) * sizeof *noise);
  for (int32_t t = 0; t < a.frames; ++t)
    for (int32_t n = 0; n < a.channels; ++n) *y++ = ops::audio::pcan(a.pcan, n, *x++, noise + n);
}

struct AudioLog {
  ops::audio::Log log;
  int32_t count;
};

template <class Y>
void audio_log(const AudioLog& a, const uint32_t* x, Y* y) {
  for (int32_t i = 0; i < a.count; ++i) y[i] = static_cast<Y>(ops::audio::log_of(a.log, x[i]));
}

struct AudioDct {
  ops::audio::Scale scale;
  const int16_t* matrix;
  int32_t rows, inputs, outputs;
};

template <class Y>
void audio_dct(const AudioDct& a, const int16_t* x, Y* y) {
  for (int32_t r = 0; r < a.rows; ++r, x += a.inputs)
    for (int32_t k = 0; k < a.outputs; ++k)
      *y++ = static_cast<Y>(ops::audio::scaled(a.scale, ops::audio::dot(x, a.matrix + k * a.inputs, a.inputs)));
}

// Shifts a state by some bytes and appends new ones.
struct ShiftIn {
  uint32_t kept_bytes, new_bytes;
};
template <class T>
void shift_in(const ShiftIn& s, const T* state, const T* x, T* y) {
  std::memmove(y, reinterpret_cast<const uint8_t*>(state) + s.new_bytes, s.kept_bytes);
  std::memcpy(reinterpret_cast<uint8_t*>(y) + s.kept_bytes, x, s.new_bytes);
}

struct EveryNth {
  int32_t count;
};
inline void every_nth(const EveryNth& e, const int32_t* counter, int32_t* next, uint8_t* due) {
  *due = *counter < 0 || *counter >= e.count - 1 ? 1 : 0;
  *next = *due != 0 ? 0 : *counter + 1;
}

struct Bytes {
  uint32_t count;
};
template <class T>
void copy(const Bytes& b, const T* x, T* y) {
  std::memmove(y, x, b.count);
}

}  // namespace mote::cortexm
