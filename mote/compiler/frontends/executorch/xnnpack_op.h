#pragma once

// How one node of an XNNPACK graph becomes Mote operators. xnnpack_nodes.def names an importer for each type of node.

#include <functional>
#include <string>
#include <vector>

#include "mote/compiler/frontends/common/words.h"
#include "mote/compiler/frontends/executorch/xnnpack_model.h"

namespace mote::frontends::executorch {

// What is known of a value while its graph is imported.
struct XnnHeld {
  Value* value = nullptr;
  Value *scale = nullptr, *zero = nullptr;  // of dynamically quantized values: one for each row
};

// The values of one graph.
class XnnScope {
 public:
  XnnScope(const XnnModel& m, ir::Graph& g, ir::Block& b) : model(m), graph(g), block(b), held(m.tensors.size()) {
    bytes_left_ = (uint64_t{64} << 20) + 8 * m.constant_bytes;
  }

  const XnnModel& model;
  ir::Graph& graph;
  ir::Block& block;
  std::vector<XnnHeld> held;   // by tensor
  bool refused = false;        // a node was: values may be missing for that reason
  int64_t pair_searches = 64;  // how many products may still look for equal arithmetic in all pairs of operands

  // Room for computed constants; false when the graph asks for far more than its data could account for.
  bool take_bytes(uint64_t size) {
    if (size > bytes_left_) return false;
    bytes_left_ -= size;
    return true;
  }

 private:
  uint64_t bytes_left_;
};

struct XnnRange {
  float lo, hi;
  bool open() const;  // bounds nothing
};
struct XnnIntRange {
  int32_t lo, hi;
};

// v with a scale and zero point for each row of its last dimensions.
XnnHeld quantize_xnn_rows(ir::NodeBuilder& b, Value* v, int nonbatch_dims);

// XNNPACK computes a convolution of dynamically quantized values whose window is one pixel as a matrix product, and gives each pixel a
// scale of its own: so do the values that only such convolutions read.
void set_pixel_scales(XnnModel* m);

class XnnOp : public Words {
 public:
  XnnOp(XnnScope& scope_, const xfb::Node& node_, ir::NodeBuilder& builder) : Words(builder), scope(scope_), node(node_) {}

  XnnScope& scope;
  const xfb::Node& node;
  bool given_up = false;  // an operand is missing because another node was refused, which has been reported

  // The node's fields; its type is known to be T.
  template <class T>
  const T& fields() const {
    return *static_cast<const T*>(node.node());
  }

  // What the graph says of a value; an empty description after an error.
  const XnnTensor& tensor(uint32_t id);
  // As it is stored: integers of quantized values. Null after an error.
  Value* raw(uint32_t id);
  const XnnHeld& held(uint32_t id);
  // As floats of that type; kNone: of its own type, f32 for quantized values.
  Value* real(uint32_t id, DType type = DType::kNone);
  // The type in which a node computes: that of its output and all inputs where they are one float type, else f32.
  DType work_type(uint32_t output, const std::vector<uint32_t>& inputs);

  // Sets a value, stored as the graph says.
  void set(uint32_t id, Value* v);
  // Sets it from floats: within the node's bounds, then quantized or in the value's float type.
  void set_real(uint32_t id, Value* v);
  void set_held(uint32_t id, const XnnHeld& h);

  // Bounds of the node's output.
  XnnRange range();
  XnnIntRange quantized_range(const XnnTensor& t);
  Value* clip(Value* v, XnnRange r);
  // The bounds as the fused activation of a float operator.
  template <class A>
  void set_activation(A* a) {
    a->activation = activation_kind(&a->act_a, &a->act_b);
  }

  // A field of the file as a size or position below 2^30; fails the node when it is none.
  int32_t size(uint32_t v, const char* what);
  bool need_rank(Value* v, int rank, const char* what);

  Value* quantize(Value* v, const XnnTensor& to);
  Value* floats(const std::vector<float>& v, const ir::Dims& dims);
  bool same_quant(const XnnTensor& a, const XnnTensor& b) const;

 private:
  uint32_t activation_kind(float* a, float* b);
  XnnHeld* find(uint32_t id);
  Value* constant(const XnnTensor& t);
  Value* dequantize(const XnnTensor& t, const XnnHeld& h);
};

using XnnImportFn = void (*)(XnnOp&);
#define MOTE_XNN_NODE(type, function) void function(XnnOp&);
#include "mote/compiler/frontends/executorch/xnnpack_nodes.def"
#undef MOTE_XNN_NODE

}  // namespace mote::frontends::executorch
