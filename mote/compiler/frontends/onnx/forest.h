#pragma once

// Decision trees as tables, and the operators that walk down all trees at once.

#include "mote/compiler/frontends/onnx/import.h"
#include "mote/compiler/frontends/onnx/op_support.h"

namespace mote::frontends::onnx {

enum class BranchMode : uint8_t { kLessEqual, kLess, kGreaterEqual, kGreater, kEqual, kNotEqual, kMember };
enum class Aggregate : uint8_t { kMean, kSum, kMin, kMax };

// All nodes of all trees. A leaf leads to itself.
struct Forest {
  struct Node {
    BranchMode mode = BranchMode::kLessEqual;
    double split = 0;
    int64_t feature = 0, on_true = 0, on_false = 0;
    bool missing_is_true = false;
    bool leaf = false;
    std::vector<double> members;  // of kMember
  };
  DType type = DType::f32;  // in which values are compared and added
  std::vector<Node> nodes;
  std::vector<int64_t> roots;
  int64_t targets = 1;
  Aggregate aggregate = Aggregate::kSum;
  std::vector<double> weights;  // of each node and target; what a leaf does not speak of is `idle_weight()`
  double idle_weight() const;
};

// Steps from the roots to the deepest leaf. False after fail() when a branch leads nowhere or in circles.
bool forest_depth(NodeContext& c, const Forest& forest, int* out);

// The sums (or what `aggregate` says) over the trees: (N, targets) from x (N, features). Null after an error.
Value* evaluate_forest(NodeContext& c, const Forest& forest, Value* x);

// NONE, SOFTMAX, LOGISTIC, SOFTMAX_ZERO along the last axis.
Value* post_transform(NodeContext& c, Value* scores, const std::string& kind);

// What the classes of a classifier are called: whole numbers, or texts (then as places in the table of texts).
struct ClassLabels {
  std::vector<int64_t> values;
  bool texts = false;
  size_t count() const { return values.size(); }
};
ClassLabels class_labels(const NodeContext& c, const char* ints, const char* strings = "classlabels_strings");

// The labels of these classes.
Value* labels_of(NodeContext& c, const ClassLabels& labels, Value* classes);
// Output 0: the label of the largest score.
void set_labels(NodeContext& c, Value* scores, const ClassLabels& labels);

}  // namespace mote::frontends::onnx
