#include "mote/tools/sound.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "mote/tools/files.h"
#include "mote/tools/wav.h"

namespace mote::tools {
namespace {

// A number the compiler left in the metadata; 0 when there is none.
int64_t noted(const Session& session, const char* key) {
  const char* text = mote_program_metadata(session.program(), key);
  return text == nullptr ? 0 : std::strtoll(text, nullptr, 10);
}

std::vector<int16_t> load_samples(const Session& session, const std::string& path) {
  std::vector<uint8_t> bytes;
  std::string error;
  Sound sound;
  if (!read_whole_file(path, &bytes, &error) || !parse_wav(bytes, &sound, &error)) throw Failure(path + ": " + error);
  const int64_t rate = noted(session, "audio.rate");
  if (rate != 0 && rate != sound.rate)
    throw Failure(path + ": expected " + std::to_string(rate) + " samples a second, found " + std::to_string(sound.rate));
  std::vector<int16_t> samples;
  for (const float v : sound.samples) samples.push_back(static_cast<int16_t>(std::clamp(std::lround(v * 32768), -32768L, 32767L)));
  return samples;
}

}  // namespace

uint32_t sound_input(const Session& session, uint32_t method) {
  const std::vector<TensorSpec> specs = session.specs(method, false);
  for (uint32_t i = 0; i < specs.size(); ++i)
    if (specs[i].dtype == MOTE_S16 && specs[i].dims.size() == 1 && noted(session, "audio.rate") > 0) return i;
  throw Failure(session.path() +
                ": --sound: expected a program that takes samples (mote compile --audio-frontend), found one that does not");
}

void run_sound(Session& session, uint32_t method, const std::string& path, const std::function<void(double seconds)>& after_run) {
  const uint32_t input = sound_input(session, method);
  const std::vector<int32_t> dims = session.specs(method, false)[input].dims;
  const auto count = static_cast<size_t>(std::max(1, dims[0]));
  std::vector<int16_t> samples = load_samples(session, path);
  const int64_t every = noted(session, "audio.every");
  const size_t runs = every > 0 ? std::max<size_t>(1, (samples.size() + count - 1) / count) : 1;
  samples.resize(runs * count);
  for (size_t i = 0; i < runs; ++i) {
    session.set_input(method, input, dims, samples.data() + i * count, count * sizeof(int16_t));
    if (i == 0) session.own_io(method);
    session.run(method);
    if (every > 0 && (i + 1) % static_cast<size_t>(every) == 0)
      after_run(static_cast<double>((i + 1) * count) / static_cast<double>(noted(session, "audio.rate")));
  }
}

}  // namespace mote::tools
