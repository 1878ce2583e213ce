// Which operators may read texts, and what of them stays a text; mapping texts to numbers and back.

#include "mote/compiler/frontends/onnx/import.h"
#include "mote/compiler/frontends/onnx/op_support.h"

namespace mote::frontends::onnx {
namespace {

bool has_text(const Texts& texts, const Entity& e) {
  if (e.list != nullptr)
    for (const Entity& element : *e.list)
      if (has_text(texts, element)) return true;
  return texts.is_text(e.value);
}

// Operators that move elements about and never look at them.
bool moves(const std::string& op) {
  static const NameSet kMovers = {"Identity",       "Reshape",   "Concat", "Gather",     "GatherElements", "ArrayFeatureExtractor",
                                  "Squeeze",        "Unsqueeze", "Slice",  "Transpose",  "Flatten",        "Split",
                                  "Expand",         "Tile",      "Where",  "SequenceAt", "GatherND",       "ConcatFromSequence",
                                  "SplitToSequence"};
  return kMovers.count(op) != 0;
}

// Operators that hand on what they were given, or that know of texts.
bool knows_texts(const std::string& op) {
  static const NameSet kOperators = {"LabelEncoder", "OneHotEncoder",      "CategoryMapper",     "Equal",         "Shape",
                                     "Size",         "SequenceConstruct",  "SequenceInsert",     "SequenceErase", "SequenceLength",
                                     "Optional",     "OptionalGetElement", "OptionalHasElement", "ZipMap"};
  return kOperators.count(op) != 0;
}

}  // namespace

bool refuse_texts(NodeContext& c, const ::onnx::NodeProto& n) {
  const Texts& texts = c.importer.texts();
  bool any = false;
  for (const Entity& e : c.operands) any = any || has_text(texts, e);
  if (!any) return false;
  const bool cast = n.op_type() == "Cast" && c.attr_int("to", 0) == ::onnx::TensorProto::STRING;
  if (!moves(n.op_type()) && !knows_texts(n.op_type()) && !cast)
    c.fail("computes with strings, of which programs know only the place in a table", "do this step before the model runs");
  // Two texts that the table does not have look alike.
  if (n.op_type() == "Equal" && c.in(0) != nullptr && c.in(1) != nullptr && !c.in(0)->is_constant() && !c.in(1)->is_constant())
    c.fail("compares two strings that are known only when running", "compare with a constant, or do this step before the model runs");
  return moves(n.op_type()) || cast;
}

void mark_texts(NodeContext& c) {
  for (const Value* v : c.outputs)
    if (v != nullptr) c.importer.texts().mark(v);
  for (const Entity& e : c.results) {
    if (e.value != nullptr) c.importer.texts().mark(e.value);
    for (size_t i = 0; e.list != nullptr && i < e.list->size(); ++i)
      if ((*e.list)[i].value != nullptr) c.importer.texts().mark((*e.list)[i].value);
  }
}

}  // namespace mote::frontends::onnx
