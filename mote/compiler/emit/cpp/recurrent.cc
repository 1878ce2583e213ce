#include "mote/compiler/emit/cpp/recurrent.h"

#include <algorithm>

#include "mote/compiler/emit/cpp/elements.h"
#include "mote/kernels/cortexm/recurrent.h"
#include "mote/ops/q_lstm/q_lstm.h"
#include "mote/ops/q_svdf/q_svdf.h"

namespace mote::emit {
namespace {

bool flat(const TensorDesc& d, DType type) { return d.dtype == type && is_dense(d) && d.ring_rows == 0 && d.dynamic == 0; }
int32_t up(int32_t v, int32_t to) { return (v + to - 1) / to * to; }

// Rows of 8-bit weights.
struct Matrix {
  const int8_t* data;
  int32_t rows, inputs;
  int32_t at(int32_t r, int32_t k) const { return r < rows && k < inputs ? data[static_cast<ptrdiff_t>(r) * inputs + k] : 0; }
  // Of a row: the magnitude its sums of 8-bit inputs have at the most.
  int64_t reach(int32_t r) const {
    int64_t sum = 0;
    for (int32_t k = 0; k < inputs; ++k) sum += std::abs(at(r, k)) * 128;
    return sum;
  }
};

// Four rows from `row` on as the products of an instruction set read them: words of 4 inputs, or 16 inputs, of one row after the other.
void append_four(const Matrix& m, int32_t row, Isa isa, std::vector<uint8_t>* out) {
  const int32_t block = isa == Isa::kHelium ? 16 : 4;
  for (int32_t k = 0; k < m.inputs; k += block)
    for (int32_t r = row; r < row + 4; ++r)
      for (int32_t b = k; b < k + block; ++b) out->push_back(static_cast<uint8_t>(m.at(r, b)));
}
std::string words_name(const std::vector<uint8_t>& bytes, Constants* constants) { return constants->bytes(bytes.data(), bytes.size()); }
std::string ints_name(const std::vector<int32_t>& values, Constants* constants) {
  return pointer_text(constants->channels(values), "int32_t");
}

// How sums up to this magnitude are scaled; nothing where the short form might overflow.
std::optional<std::string> shifted_text(int32_t multiplier, int32_t shift, int64_t most) {
  const int left = std::max(shift, 0) + 1;
  if (multiplier < 0 || shift < -31 || left > 30 || most > (int64_t{0x7fffffff} >> left)) return std::nullopt;
  return "{" + scale_text(multiplier, std::min(shift, 0)) + ", " + text(left) + "}";
}

KernelCall recurrent_call(const char* type, const std::string& function, Isa isa) {
  KernelCall call;
  call.header = isa == Isa::kHelium ? "helium_recurrent.h" : "recurrent.h";
  call.type = type;
  call.function = (isa == Isa::kHelium ? "helium::" : "") + function;
  return call;
}

std::optional<KernelCall> svdf(const Source& s, const Instruction& n, Isa isa, Constants* constants) {
  const auto a = s.attrs<ops::q_svdf::Attrs>(n);
  const int32_t state = s.input(n, 0), x = s.input(n, 1), feature = s.input(n, 2), time = s.input(n, 3), bias = s.input(n, 4);
  for (const int32_t t : {feature, time, bias})
    if (t >= 0 && (s.desc(t).storage != Storage::kConstant || !is_dense(s.desc(t)))) return std::nullopt;
  if (!flat(s.desc(state), DType::s16) || !flat(s.desc(s.output(n, 0)), DType::s16) || !flat(s.desc(x), DType::s8) ||
      !flat(s.desc(s.output(n, 1)), DType::s8) || s.desc(feature).dtype != DType::s8)
    return std::nullopt;
  const Matrix w{s.constant(feature).as<const int8_t>(), s.desc(feature).dims[0], s.desc(feature).dims[1]};
  const int32_t memory = s.desc(time).dims[1], units = w.rows / a.rank;
  if (units == 0) return std::nullopt;
  std::vector<uint8_t> features;
  std::vector<int32_t> offsets, biases;
  int64_t most = 0;
  for (int32_t f = 0; f < up(w.rows, 4); ++f) {
    if (f % 4 == 0) append_four(w, f, isa, &features);
    int64_t sum = 0;
    for (int32_t k = 0; k < w.inputs; ++k) sum -= int64_t{w.at(f, k)} * a.input_zero;
    offsets.push_back(static_cast<int32_t>(sum));
    most = std::max(most, w.reach(f) + std::abs(sum));
  }
  for (int32_t u = 0; u < units; ++u)
    biases.push_back(bias < 0 ? 0 : s.constant(bias).as<const int32_t>()[element_count(s.desc(bias)) == 1 ? 0 : u]);
  const std::optional<std::string> scale = shifted_text(a.feature_multiplier, a.feature_shift, most);
  if (!scale) return std::nullopt;
  const Tensor times = s.constant(time);
  const std::string times_name = constants->bytes(times.as<const uint8_t>(), static_cast<size_t>(times.count()) * 2);
  KernelCall call = recurrent_call("Svdf", "svdf", isa);
  call.geometry = "{" + words_name(features, constants) + ", " + ints_name(offsets, constants) + ", " +
                  pointer_text(times_name, "int16_t") + ", " + ints_name(biases, constants);
  for (const int32_t v : {s.desc(x).dims[0], w.inputs, w.rows, memory, a.rank}) call.geometry += ", " + text(v);
  call.geometry += ", " + *scale + ", " + text(a.time_multiplier) + ", " + text(a.time_shift) + ", " + text(a.output_zero) + "}";
  call.inputs = {state, x, s.output(n, 0), s.output(n, 1)};
  return call;
}

// The four gates' weights, biases and scalings.
struct Gates {
  std::vector<uint8_t> weights;
  std::vector<int32_t> biases;
  std::string input, recurrent;  // scalings
};

bool read_gates(const Source& s, const Instruction& n, const ops::q_lstm::Attrs& a, Isa isa, Gates* out) {
  using namespace ops::q_lstm;
  const TensorDesc& wx = s.desc(s.input(n, kInputWeights));
  const int32_t cells = wx.dims[1], inputs = wx.dims[2], outputs = s.desc(s.input(n, kRecurrentWeights)).dims[2], first = a.coupled != 0;
  const auto* x_bias = s.constant(s.input(n, kInputBias)).as<const int32_t>();
  const auto* h_bias = s.constant(s.input(n, kRecurrentBias)).as<const int32_t>();
  for (int32_t g = 0; g < 4; ++g) {
    const int32_t at = std::max(g - first, 0);
    const Matrix mx{s.constant(s.input(n, kInputWeights)).as<const int8_t>() + static_cast<ptrdiff_t>(at) * cells * inputs, cells, inputs};
    const Matrix mh{s.constant(s.input(n, kRecurrentWeights)).as<const int8_t>() + static_cast<ptrdiff_t>(at) * cells * outputs, cells,
                    outputs};
    int64_t most_x = 0, most_h = 0;
    for (int32_t i = 0; g >= first && i < cortexm::lstm_cells_up(cells); i += 4) {
      append_four(mx, i, isa, &out->weights);
      append_four(mh, i, isa, &out->weights);
      for (const int32_t* bias : {x_bias, h_bias})
        for (int32_t k = i; k < i + 4; ++k) out->biases.push_back(k < cells ? bias[at * cells + k] : 0);
      for (int32_t k = i; k < std::min(i + 4, cells); ++k) {
        most_x = std::max(most_x, mx.reach(k) + std::abs(int64_t{x_bias[at * cells + k]}));
        most_h = std::max(most_h, mh.reach(k) + std::abs(int64_t{h_bias[at * cells + k]}));
      }
    }
    const bool used = g >= first;
    const auto sx = shifted_text(used ? a.input_multiplier[g] : 0, used ? a.input_shift[g] : 0, most_x);
    const auto sh = shifted_text(used ? a.recurrent_multiplier[g] : 0, used ? a.recurrent_shift[g] : 0, most_h);
    if (!sx || !sh) return false;
    out->input += (g > 0 ? ", " : "") + *sx;
    out->recurrent += (g > 0 ? ", " : "") + *sh;
  }
  return true;
}

// Weights, biases and scaling of the projection; null pointers where there is none.
bool read_projection(const Source& s, const Instruction& n, const ops::q_lstm::Attrs& a, Isa isa, Constants* constants, std::string* names,
                     std::string* scale) {
  using namespace ops::q_lstm;
  const int32_t w = s.input(n, kProjection), b = s.input(n, kProjectionBias);
  *names = "nullptr, nullptr";
  *scale = "{}";
  if (w < 0) return true;
  const Matrix m{s.constant(w).as<const int8_t>(), s.desc(w).dims[0], s.desc(w).dims[1]};
  std::vector<uint8_t> weights;
  std::vector<int32_t> biases;
  int64_t most = 0;
  for (int32_t o = 0; o < up(m.rows, 4); ++o) {
    if (o % 4 == 0) append_four(m, o, isa, &weights);
    biases.push_back(b < 0 || o >= m.rows ? 0 : s.constant(b).as<const int32_t>()[o]);
    most = std::max(most, m.reach(o) + std::abs(int64_t{biases.back()}));
  }
  const auto found = shifted_text(a.projection_multiplier, a.projection_shift, most);
  if (!found) return false;
  *names = words_name(weights, constants) + ", " + ints_name(biases, constants);
  *scale = *found;
  return true;
}

std::optional<KernelCall> lstm(const Source& s, const Instruction& n, Isa isa, Constants* constants) {
  using namespace ops::q_lstm;
  const auto a = s.attrs<Attrs>(n);
  for (uint32_t i = kInputWeights; i < n.input_count; ++i) {
    const int32_t t = s.input(n, i);
    if (t >= 0 && (s.desc(t).storage != Storage::kConstant || !is_dense(s.desc(t)))) return std::nullopt;
  }
  const int32_t y = s.output(n, 0), x = s.input(n, kX);
  const TensorDesc& in = s.desc(x);
  for (const int32_t t : {x, y})
    if (t >= 0 && (s.desc(t).dtype != DType::s8 || s.desc(t).strides[2] != 1 || s.desc(t).dynamic != 0 || s.desc(t).ring_rows != 0))
      return std::nullopt;
  for (const int32_t t : {s.input(n, kHidden), s.output(n, 1)})
    if (t < 0 || !flat(s.desc(t), DType::s8)) return std::nullopt;
  for (const int32_t t : {s.input(n, kCell), s.output(n, 2)})
    if (t < 0 || !flat(s.desc(t), DType::s16)) return std::nullopt;
  Gates gates;
  std::string projection, projected;
  const auto hidden = shifted_text(a.hidden_multiplier, a.hidden_shift, (1 << 30) - 1);
  if (!hidden || !read_gates(s, n, a, isa, &gates) || !read_projection(s, n, a, isa, constants, &projection, &projected))
    return std::nullopt;
  const int time = a.time_major != 0 ? 0 : 1, batch = 1 - time;
  const int32_t cells = s.desc(s.input(n, kCell)).dims[1];
  KernelCall call = recurrent_call("Lstm", "lstm<" + text(15 + a.cell_exponent) + ">", isa);
  call.geometry = "{" + words_name(gates.weights, constants) + ", " + ints_name(gates.biases, constants) + ", " + projection;
  const auto stride = [&](int32_t t, int d) { return t < 0 ? 0 : s.desc(t).strides[d]; };
  for (const int32_t v : {in.dims[batch], in.dims[time], in.dims[2], s.desc(s.input(n, kHidden)).dims[1], cells, stride(x, batch),
                          stride(x, time), stride(y, batch), stride(y, time), static_cast<int32_t>(a.coupled)})
    call.geometry += ", " + text(v);
  call.geometry += ", {" + gates.input + "}, {" + gates.recurrent + "}, " + *hidden + ", " + projected;
  for (const int32_t v : {a.hidden_zero, a.output_zero, a.projection_clip, a.cell_clip, 30 + a.cell_exponent})
    call.geometry += ", " + text(v);
  call.geometry += "}";
  call.inputs = {x, s.input(n, kHidden), s.input(n, kCell), y, s.output(n, 1), s.output(n, 2)};
  call.scratch_bytes = cortexm::lstm_scratch_bytes(cells, s.input(n, kProjection) >= 0);
  call.scratch_type = "int16_t*";
  return call;
}

}  // namespace

std::optional<KernelCall> find_recurrent_kernel(const Source& s, const Instruction& n, Isa isa, Constants* constants) {
  return static_cast<OpId>(n.op) == OpId::q_svdf ? svdf(s, n, isa, constants) : lstm(s, n, isa, constants);
}

}  // namespace mote::emit
