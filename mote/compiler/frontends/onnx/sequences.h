#pragma once

// Sequences in control flow: as the tensors they consist of, and back.

#include "mote/compiler/frontends/onnx/decompose.h"
#include "mote/compiler/frontends/onnx/import.h"

namespace mote::frontends::onnx {

// `a` where the condition (a scalar) holds, else `b`; of one element type and rank, their sizes may differ.
Value* choose(NodeContext& c, Value* condition, Value* a, Value* b);

// The tensors of some values: of sequences the elements and the length, of stacked ones the tensor.
std::vector<Value*> tensors_of(const std::vector<Entity>& list);
// The values that consist of these tensors; `like` says of what kind they are. Takes tensors from *at on.
std::vector<Entity> of_tensors(const std::vector<Entity>& like, const std::vector<Value*>& tensors);

// Gives two lists of values the same form: the shorter of two sequences gets empty elements, and both a length. Elements are added
// through each list's builder. False after fail(): a tensor beside a sequence, an optional that is there in one list alone.
struct Side {
  std::vector<Entity>* list;
  ir::NodeBuilder* builder;
};
bool make_alike(NodeContext& c, const Side& a, const Side& b);

// A Loop as the model has it.
struct LoopParts {
  const ::onnx::GraphProto* body = nullptr;
  Value *trips = nullptr, *condition = nullptr;
  std::vector<Entity> carried;
  size_t scanned = 0;
  int64_t most_trips = 0;
};

// A loop whose number of trips is known only when running, and that carries sequences or values of changing shape. Sequences that it
// only appends to, with elements of one shape, become tensors that the loop stacks; every other such loop is written out, each trip under
// the condition that it takes place.
void import_running_loop(NodeContext& c, const LoopParts& p, const std::string& why);

}  // namespace mote::frontends::onnx
