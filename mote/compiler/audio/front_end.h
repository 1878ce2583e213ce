#pragma once

// How features are made of sound: what `mote compile --audio-frontend` reads. Units are those of people; tables.h has the device's.

#include <cstdint>
#include <string>
#include <vector>

namespace mote::audio {

enum class Shape : uint8_t { kHann, kHamming, kRectangle };
enum class Phase : uint8_t { kPeriodic, kSymmetric, kCentred };

struct FrontEnd {
  // Frames.
  int32_t rate = 16000;              // samples a second
  int32_t window = 480, step = 320;  // samples of a frame, and from one to the next
  Shape shape = Shape::kHann;
  Phase phase = Phase::kPeriodic;
  double preemphasis = 0;
  // Bands: triangles on the mel scale.
  int32_t bands = 40;
  double low = 20, high = 4000;  // Hz
  bool magnitude = false;        // sums of magnitudes; else the square root of sums of powers
  // Noise reduction and gain control (PCAN).
  bool noise = false, gain = false;
  double even_smoothing = 0.025, odd_smoothing = 0.06, least = 0.05;
  double strength = 0.95, offset = 80;
  // A feature is factor * ln(band + floor) + bias, kept within [clip_low, clip_high].
  double factor = 1, bias = 0, floor = 0;
  double clip_low = -1e30, clip_high = 1e30;
  // Cepstral coefficients of those; 0: none.
  int32_t cepstra = 0;
  bool orthogonal = false;
  bool time_last = false;  // features are rows of the model's input, frames its columns
  std::string input;       // of the model, where it has several

  int32_t features() const { return cepstra > 0 ? cepstra : bands; }
  int32_t fft_size() const;  // the least power of two that holds a window
};

// "micro": TensorFlow Lite Micro's front end (30 ms, 20 ms, 40 bands, noise reduction, PCAN); "mfcc": MLPerf Tiny's keywords (10 cepstral
// coefficients); "lfbe": MLPerf Tiny's wake word. The text of one of them, as parse_front_end() reads it; null for other names.
const char* front_end_text(const std::string& name);
std::string front_end_names();

// TOML; later texts change what earlier ones say. Checks every number. False with *error: line or key, what was expected, what was found.
bool parse_front_end(const std::vector<std::string>& texts, FrontEnd* out, std::string* error);

}  // namespace mote::audio
