// Constant weights as the products want them: small types (f16, bf16, s8 with scales) read as they are instead of widened, matrices as
// (N, K), 8-bit ones signed.

#include <algorithm>
#include <cstring>
#include <map>

#include "mote/compiler/ir/infer.h"
#include "mote/compiler/passes/linear.h"
#include "mote/compiler/passes/quantized.h"
#include "mote/ops/common/quant_epilogue.h"
#include "mote/ops/conv/conv.h"
#include "mote/ops/conv_transpose/conv_transpose.h"
#include "mote/ops/matmul/matmul.h"
#include "mote/ops/q_conv/q_conv.h"
#include "mote/ops/q_conv_transpose/q_conv_transpose.h"
#include "mote/ops/q_matmul/q_matmul.h"

namespace mote::passes {
namespace {

// Rows and columns of a constant matrix exchanged, elements of any width of whole bytes.
Value* transposed(Graph& graph, const Value& w) {
  const size_t rows = static_cast<size_t>(w.type.dims[0]), columns = static_cast<size_t>(w.type.dims[1]), width = dtype_bytes(w.type.dtype);
  if (width == 0) return nullptr;
  std::vector<uint8_t> out(w.data.size);
  for (size_t r = 0; r < rows; ++r)
    for (size_t c = 0; c < columns; ++c) std::memcpy(out.data() + (c * rows + r) * width, w.data.data + (r * columns + c) * width, width);
  return graph.add_constant(w.type.dtype, {w.type.dims[1], w.type.dims[0]}, ir::Bytes::own(std::move(out)), w.name);
}

// u8 numbers as s8, 128 less.
Value* made_signed(Graph& graph, const Value& w) {
  std::vector<uint8_t> out(w.data.data, w.data.data + w.data.size);
  for (uint8_t& b : out) b = static_cast<uint8_t>(b ^ 0x80);
  return graph.add_constant(DType::s8, w.type.dims, ir::Bytes::own(std::move(out)), w.name);
}

// Constants in another form, made once for all who want them.
class Forms {
 public:
  explicit Forms(Graph& graph) : graph_(graph) {}
  Value* transposed(Value* w) { return form(rows_, w, &passes::transposed); }
  Value* made_signed(Value* w) { return form(signed_, w, &passes::made_signed); }
  Graph& graph() { return graph_; }

 private:
  using Map = std::map<const Value*, Value*>;
  Value* form(Map& made, Value* w, Value* (*make)(Graph&, const Value&)) {
    const auto [it, added] = made.emplace(w, nullptr);
    if (added) it->second = make(graph_, *w);
    return it->second;
  }
  Graph& graph_;
  Map rows_, signed_;
};

bool is_matrix_of_weights(const Node& n) { return n.is(OpId::matmul) && n.inputs[kWeights]->type.rank() == 2; }

// Puts weights (N first) and scales into a product.
bool use(Graph& graph, Node& n, Value* w, Value* scales) {
  std::vector<Value*> inputs = n.inputs;
  inputs[kWeights] = w;
  if (scales != nullptr) {
    inputs.resize(std::max<size_t>(inputs.size(), kScales + 1));
    inputs[kScales] = scales;
  }
  std::vector<uint8_t> old = n.attrs;
  if (n.is(OpId::matmul)) {
    auto a = n.attributes<ops::matmul::Attrs>();
    a.transpose_b = 1;
    n.set_attributes(a);
  }
  Node* made = rebuilt(graph, n, inputs, n);
  n.attrs = std::move(old);
  return made != nullptr && replace_by(graph, n, made->outputs[0]);
}

bool rows_first(const Node& n) { return !n.is(OpId::matmul) || n.attributes<ops::matmul::Attrs>().transpose_b == 1; }

// Weights that are a cast of a 16-bit float constant.
bool half_weights(Forms& forms, Node& n) {
  const Node* cast = made_by(n.inputs[kWeights], OpId::cast);
  if (cast == nullptr || n.inputs[0]->type.dtype != DType::f32 || !cast->inputs[0]->is_constant()) return false;
  Value* w = cast->inputs[0];
  if ((w->type.dtype != DType::f16 && w->type.dtype != DType::bf16) || better_as_floats(n, w->type.dtype)) return false;
  if (n.is(OpId::matmul) && !is_matrix_of_weights(n)) return false;
  return use(forms.graph(), n, rows_first(n) ? w : forms.transposed(w), nullptr);
}

// Weights that are a dequantized 8-bit constant, one scale for each output channel or one for all, zero point in the middle.
bool byte_weights(Forms& forms, Node& n) {
  const std::optional<QuantWeights> q = dequantized_weights(n.inputs[kWeights]);
  if (!q || n.inputs[0]->type.dtype != DType::f32 || !q->values->is_constant() || n.input(kScales) != nullptr) return false;
  if (!is_byte(q->values->type.dtype) || (n.is(OpId::matmul) && !is_matrix_of_weights(n))) return false;
  if (better_as_floats(n, q->values->type.dtype)) return false;
  const double middle = q->values->type.dtype == DType::u8 ? 128 : 0;
  if (std::any_of(q->zeros.begin(), q->zeros.end(), [&](double z) { return z != middle; })) return false;
  if (q->scales.size() > 1 && q->axis != (rows_first(n) ? 0 : 1)) return false;
  Value* w = q->values->type.dtype == DType::u8 ? forms.made_signed(q->values) : q->values;
  if (!rows_first(n)) w = forms.transposed(w);
  std::vector<double> scales = q->scales;
  const int32_t channels = channels_of(n);
  if (scales.size() == 1) scales.assign(static_cast<size_t>(channels), scales[0]);
  return use(forms.graph(), n, w, float_constant(forms.graph(), DType::f32, {channels}, scales));
}

// Matrices (K, N) of floats as (N, K), the way they are packed.
bool matrix_rows(Forms& forms, Node& n) {
  Value* w = n.input(kWeights);
  if (!n.is(OpId::matmul) || !w->is_constant() || w->type.rank() != 2 || w->layout != Layout::kPlain || rows_first(n)) return false;
  if ((mask_of(w->type.dtype) & kFloat) == 0) return false;
  // Others that read it as it is would need a second copy.
  for (const Node* user : w->users)
    if (!user->is(OpId::matmul) || user->inputs[kWeights] != w || user->inputs[0] == w || rows_first(*user)) return false;
  return w->result_uses == 0 && use(forms.graph(), n, forms.transposed(w), nullptr);
}

template <class A>
bool signed_bytes(Forms& forms, Node& n) {
  Graph& graph = forms.graph();
  Value *w = n.inputs[kWeights], *zeros = n.input(ops::kEpilogueWZero);
  if (!w->is_constant() || w->type.dtype != DType::u8 || w->layout != Layout::kPlain || (zeros != nullptr && !zeros->is_constant()))
    return false;
  auto a = n.attributes<A>();
  std::vector<Value*> inputs = n.inputs;
  inputs[kWeights] = forms.made_signed(w);
  a.weight_zero -= zeros == nullptr ? 128 : 0;
  if (zeros != nullptr) {
    std::vector<int64_t> z;
    if (!ir::known_ints(*zeros, &z)) return false;
    std::vector<int32_t> moved;
    for (const int64_t v : z) moved.push_back(static_cast<int32_t>(v - 128));
    inputs[ops::kEpilogueWZero] = graph.constant<int32_t>(zeros->type.dims, moved);
    a.weight_zero = 0;
  }
  NodeBuilder b(graph, *n.block, n.name, &n);
  return replace_by(graph, n, b.op(static_cast<OpId>(n.op), a, inputs));
}

bool settle(Forms& forms, Node& n, const PassOptions& options) {
  if (n.is(OpId::q_conv)) return signed_bytes<ops::q_conv::Attrs>(forms, n);
  if (n.is(OpId::q_conv_transpose)) return signed_bytes<ops::q_conv_transpose::Attrs>(forms, n);
  if (n.is(OpId::q_matmul)) return signed_bytes<ops::q_matmul::Attrs>(forms, n);
  if (!is_linear(n)) return false;
  return half_weights(forms, n) || (!options.exact && byte_weights(forms, n)) || matrix_rows(forms, n);
}

}  // namespace

bool better_as_floats(const Node& n, DType small) {
  if (n.is(OpId::matmul)) return false;
  const Dims& dims = n.inputs[kWeights]->type.dims;
  const int32_t groups = n.is(OpId::conv) ? n.attributes<ops::conv::Attrs>().groups : n.attributes<ops::conv_transpose::Attrs>().groups;
  if (groups > 1 && dims[0] / groups % 16 != 0) return true;
  const int64_t side_by_side = small == DType::bf16 ? 2 : is_byte(small) ? 4 : 1;
  return dims.back() % side_by_side != 0;
}

bool weights(Graph& graph, const PassOptions& options) {
  Forms forms(graph);
  return each_node(graph, [&](Node& n) { return settle(forms, n, options); });
}

}  // namespace mote::passes
