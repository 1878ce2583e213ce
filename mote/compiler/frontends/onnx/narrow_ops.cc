// What operators do with values of narrow types (narrow.h): those that only move elements move codes, and the others have to know them.

#include "mote/compiler/frontends/onnx/import.h"
#include "mote/compiler/frontends/onnx/narrow_words.h"

namespace mote::frontends::onnx {
namespace {

using Names = std::unordered_set<std::string>;

// Elements come out as they went in, in other places, or zeros beside them: code 0 is the number 0 (of float8e8m0 the smallest).
const Names& moves() {
  static const Names kNames = {"Identity",  "Reshape",       "Transpose", "Squeeze",         "Unsqueeze",    "Flatten",  "Slice",
                               "Split",     "Concat",        "Gather",    "GatherElements",  "GatherND",     "Scatter",  "ScatterElements",
                               "ScatterND", "Expand",        "Tile",      "SpaceToDepth",    "Where",        "Compress", "DepthToSpace",
                               "Pad",       "CenterCropPad", "Trilu",     "ReverseSequence", "TensorScatter"};
  return kNames;
}

// These read the types of their operands themselves.
const Names& knows() {
  static const Names kNames = {"Cast",
                               "CastLike",
                               "BitCast",
                               "QuantizeLinear",
                               "DequantizeLinear",
                               "Shape",
                               "Size",
                               "If",
                               "Loop",
                               "SequenceAt",
                               "SequenceErase",
                               "SequenceConstruct",
                               "SequenceInsert",
                               "SequenceLength",
                               "com.microsoft.QuantizeLinear",
                               "com.microsoft.DequantizeLinear",
                               "com.microsoft.GatherBlockQuantized"};
  return kNames;
}

// Weights of 4 bits have kernels of their own behind these: they take the constant as it is.
bool takes_weights(const std::string& op) { return op == "DequantizeLinear" || op == "GatherBlockQuantized"; }

const NarrowType* first_narrow(const std::vector<Entity>& list) {
  for (const Entity& e : list) {
    const NarrowType* t = e.list != nullptr ? first_narrow(*e.list) : narrow_type(e.element);
    if (t != nullptr) return t;
  }
  return nullptr;
}

// Operands that hold elements of the result must agree: bytes alone do not tell a number from a code.
bool same_elements(NodeContext& c, const NarrowType& t) {
  for (size_t i = 0; i < c.operands.size(); ++i) {
    const Entity& e = c.operands[i];
    if (e.value == nullptr || e.value->type.dtype != t.storage() || e.element == t.onnx) continue;
    const NarrowType* other = narrow_type(e.element);
    c.fail("expected inputs of one element type, found " + onnx_type_name(t.onnx) + " and, as input " + std::to_string(i) + ", " +
           (other != nullptr ? onnx_type_name(other->onnx) : dtype_name(t.storage())));
    return false;
  }
  return true;
}

}  // namespace

void prepare_narrow(NodeContext& c, const std::string& key, int* carried) {
  *carried = 0;
  const NarrowType* t = first_narrow(c.operands);
  if (t == nullptr) return;
  const bool move = moves().count(key) != 0;
  const std::string reduction = c.attr_string("reduction", "none");
  if (!move && knows().count(key) == 0)
    return c.fail("computing with elements of type " + onnx_type_name(t->onnx) + " is not possible",
                  "convert them in front of it with Cast or DequantizeLinear");
  if (move && reduction != "none")
    return c.fail("reduction " + reduction + " of elements of type " + onnx_type_name(t->onnx) + " is not possible");
  Decompose d(c);
  for (size_t i = 0; i < c.operands.size() && !takes_weights(c.proto.op_type()); ++i) {
    Entity& e = c.operands[i];
    const NarrowType* own = narrow_type(e.element);
    if (own != nullptr && e.value != nullptr) c.inputs[i] = e.value = spread_codes(d, e.value, *own);
  }
  if (move && c.b.ok() && same_elements(c, *t)) *carried = t->onnx;
}

void cast_narrow(NodeContext& c, const NarrowType* narrow, DType type) {
  const NarrowType* from = narrow_operand(c, 0);
  Decompose d(c);
  EncodeRule rule;
  if (!read_rule(c, &rule)) return;
  if (from == nullptr && narrow == nullptr) return c.out(0, d.cast(c.in(0), type));
  if (from != nullptr && from == narrow) return c.out(0, c.in(0), narrow->onnx);
  if (from != nullptr && narrow != nullptr && from->is_float() && narrow->is_float())
    return c.out(0, recode(d, c.in(0), *from, *narrow, rule), narrow->onnx);
  Value* x = from != nullptr ? numbers_of(d, c.in(0), *from) : c.in(0);
  if (narrow != nullptr) c.out(0, codes_of(d, x, *narrow, rule), narrow->onnx);
  else c.out(0, d.cast(x, type));
}

Value* Importer::spread(Value* constant, const NarrowType& type, ir::Block& block, std::string* error) {
  ir::NodeBuilder builder(graph_, block, constant->name);
  Words words(builder);
  Value* codes = spread_codes(words, constant, type);
  if (!builder.ok()) *error = builder.error();
  return codes;
}

// What leaves a graph has a byte for each element.
void Importer::spread_result(Entity* e, ir::Block& block) {
  const NarrowType* narrow = narrow_type(e->element);
  std::string error;
  if (narrow == nullptr || e->value == nullptr) return;
  e->value = spread(e->value, *narrow, block, &error);
  if (e->value == nullptr) problem("model", error);
}

// Programs have codes where the model has a narrow type: which one, for people and tools.
void Importer::note_element(const char* kind, const std::string& name, int element) {
  if (const NarrowType* narrow = narrow_type(element); narrow != nullptr)
    graph_.evidence.emplace_back(kind + graph_.methods[0].name + "." + name, narrow->name);
}

}  // namespace mote::frontends::onnx
