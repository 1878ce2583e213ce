#include "mote/compiler/emit/cpp/streams.h"

#include "mote/ops/audio_dct/audio_dct.h"
#include "mote/ops/audio_log/audio_log.h"
#include "mote/ops/audio_mel/audio_mel.h"
#include "mote/ops/audio_pcan/audio_pcan.h"
#include "mote/ops/every_nth/every_nth.h"
#include "mote/ops/shift_in/shift_in.h"

namespace mote::emit {
namespace {

std::string list(std::initializer_list<int64_t> values) {
  std::string s = "{";
  for (const int64_t v : values) s += (s.size() > 1 ? ", " : "") + std::to_string(v) + (v > INT32_MAX ? "u" : "");
  return s + "}";
}
// INT32_MIN has no literal of its own.
std::string limit(int64_t v) { return v == INT32_MIN ? "INT32_MIN" : std::to_string(v); }

bool dense(const Source& s, const Instruction& n) {
  for (uint32_t i = 0; i < uint32_t{n.input_count} + n.output_count; ++i) {
    const int32_t t = s.records.operands[n.operands + i];
    if (t < 0 && static_cast<OpId>(n.op) == OpId::reshape && i > 0) continue;  // a shape that is no input
    if (t < 0 || !is_dense(s.desc(t)) || s.desc(t).layout != Layout::kPlain || s.desc(t).ring_rows != 0) return false;
  }
  return true;
}
bool constant(const Source& s, int32_t t) { return s.desc(t).storage == Storage::kConstant; }

std::string table(const Source& s, int32_t t, const char* type, Constants* constants) {
  const std::string name = constants->bytes(s.constant(t).as<const uint8_t>(), extent_bytes(s.desc(t)));
  return "reinterpret_cast<const " + std::string(type) + "*>(" + name + ")";
}

std::string audio_scale_text(const ops::audio::Scale& c) {
  return "{" + limit(c.multiplier) + ", " + std::to_string(c.shift) + ", " + std::to_string(c.zero) + ", " + limit(c.lo) + ", " +
         limit(c.hi) + "}";
}

KernelCall call_of(const char* type, const char* function, std::string geometry, std::vector<int32_t> operands) {
  return {"audio.h", type, function, std::move(geometry), std::move(operands)};
}

// Tables as the operator wants them: it would refuse others when running.
bool sound_bands(const Source& s, const Instruction& n, int32_t fft_size) {
  const Tensor bands = s.constant(s.input(n, 3));
  int64_t weights = 0;
  for (int32_t i = 0; i < bands.dim(0); ++i) {
    const int32_t* b = bands.as<const int32_t>() + 2 * i;
    if (b[0] < 0 || b[1] < 0 || int64_t{b[0]} + b[1] > fft_size / 2 + 1) return false;
    weights += b[1];
  }
  return weights <= s.desc(s.input(n, 4)).dims[0];
}

std::optional<KernelCall> audio_mel(const Source& s, const Instruction& n, Constants* constants) {
  const auto a = s.attrs<ops::audio_mel::Attrs>(n);
  for (uint32_t i = 1; i < 5; ++i)
    if (!constant(s, s.input(n, i))) return std::nullopt;
  const TensorDesc& y = s.desc(s.output(n, 0));
  const int32_t window = s.desc(s.input(n, 1)).dims[0], size = (s.desc(s.input(n, 2)).dims[0] - 1) * 4;
  if (!sound_bands(s, n, size)) return std::nullopt;
  const std::string mel = "{" + table(s, s.input(n, 1), "int16_t", constants) + ", " + table(s, s.input(n, 2), "int32_t", constants) +
                          ", " + std::to_string(window) + ", " + std::to_string(size) + ", " + std::to_string(a.preemphasis) +
                          (a.magnitude != 0 ? ", true}" : ", false}");
  const std::string numbers = list({y.dims[0], y.dims[1], a.step, a.lead});
  return call_of("AudioMel", "audio_mel",
                 "{" + mel + ", " + table(s, s.input(n, 3), "int32_t", constants) + ", " + table(s, s.input(n, 4), "uint16_t", constants) +
                     ", " + numbers.substr(1),
                 {s.input(n, 0), s.output(n, 0), s.output(n, 1)});
}

std::optional<KernelCall> audio_pcan(const Source& s, const Instruction& n) {
  const auto a = s.attrs<ops::audio_pcan::Attrs>(n);
  const TensorDesc& x = s.desc(s.input(n, 1));
  const std::string numbers = list({x.dims[0], x.dims[1]});
  return call_of("AudioPcan", "audio_pcan",
                 "{{" + list({a.even_smoothing, a.odd_smoothing}) + ", " + std::to_string(a.least) + "u, " + std::to_string(a.strength) +
                     "u, " + std::to_string(a.offset) + "u, " + limit(a.bias) + "}, " + numbers.substr(1),
                 {s.input(n, 0), s.input(n, 1), s.output(n, 0), s.output(n, 1)});
}

std::optional<KernelCall> audio_log(const Source& s, const Instruction& n) {
  const ops::audio::Log log = ops::audio_log::log_of(s.attrs<ops::audio_log::Attrs>(n));
  return call_of("AudioLog", "audio_log",
                 "{{" + audio_scale_text(log.scale) + ", " + std::to_string(log.add) + "u, " + limit(log.bias) + "}, " +
                     std::to_string(element_count(s.desc(s.input(n, 0)))) + "}",
                 {s.input(n, 0), s.output(n, 0)});
}

std::optional<KernelCall> audio_dct(const Source& s, const Instruction& n, Constants* constants) {
  if (!constant(s, s.input(n, 1))) return std::nullopt;
  const TensorDesc &x = s.desc(s.input(n, 0)), &y = s.desc(s.output(n, 0));
  const std::string numbers = list({x.dims[0], x.dims[1], y.dims[1]});
  return call_of("AudioDct", "audio_dct",
                 "{" + audio_scale_text(ops::audio_dct::scale_of(s.attrs<ops::audio_dct::Attrs>(n))) + ", " +
                     table(s, s.input(n, 1), "int16_t", constants) + ", " + numbers.substr(1),
                 {s.input(n, 0), s.output(n, 0)});
}

std::optional<KernelCall> shift_in(const Source& s, const Instruction& n) {
  // In one piece where nothing stands before the axis.
  const TensorDesc& y = s.desc(s.output(n, 0));
  const int32_t axis = s.attrs<ops::shift_in::Attrs>(n).axis;
  for (int i = 0; i < (axis < 0 ? axis + y.rank : axis); ++i)
    if (y.dims[i] != 1) return std::nullopt;
  const auto bytes = [&](int32_t t) { return static_cast<int64_t>(extent_bytes(s.desc(t))); };
  const int64_t all = bytes(s.output(n, 0)), more = bytes(s.input(n, 1));
  return call_of("ShiftIn", "shift_in", list({all - more, more}), {s.input(n, 0), s.input(n, 1), s.output(n, 0)});
}

std::optional<KernelCall> copy(const Source& s, const Instruction& n) {
  return call_of("Bytes", "copy", list({static_cast<int64_t>(extent_bytes(s.desc(s.output(n, 0))))}), {s.input(n, 0), s.output(n, 0)});
}

}  // namespace

std::optional<KernelCall> find_stream_kernel(const Source& s, const Instruction& n, Constants* constants) {
  if (!dense(s, n)) return std::nullopt;
  switch (static_cast<OpId>(n.op)) {
    case OpId::audio_mel: return audio_mel(s, n, constants);
    case OpId::audio_pcan: return audio_pcan(s, n);
    case OpId::audio_log: return audio_log(s, n);
    case OpId::audio_dct: return audio_dct(s, n, constants);
    case OpId::shift_in: return shift_in(s, n);
    case OpId::copy:
    case OpId::reshape: return copy(s, n);
    case OpId::every_nth:
      if (element_count(s.desc(s.input(n, 0))) != 1) return std::nullopt;
      return call_of("EveryNth", "every_nth", list({s.attrs<ops::every_nth::Attrs>(n).count}),
                     {s.input(n, 0), s.output(n, 0), s.output(n, 1)});
    default: return std::nullopt;
  }
}

}  // namespace mote::emit
