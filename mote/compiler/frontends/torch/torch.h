#pragma once

// Programs of torch.export become graphs of Mote's operators. Two ways in: a .pt2 file through the front end (frontend.h), and, for callers
// that hold an ExportedProgram in memory, import_exported().

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "mote/compiler/frontends/frontend.h"

namespace mote::frontends::torch {

class Op;
struct ProgramDef;

// A parameter, buffer or constant tensor; a buffer without bytes is zeros. The bytes are shared, not copied, where they are dense in
// row-major order.
struct TensorData {
  DType dtype = DType::kNone;
  std::vector<int64_t> shape;
  std::vector<int64_t> strides;  // in elements; empty: dense in row-major order
  int64_t offset = 0;            // in elements, from the first byte
  ir::Bytes bytes;               // the storage that the strides walk over; every element is checked to lie inside it
};

// One exported program: a method of the compiled one.
struct ExportedMethod {
  std::string name = "forward";
  // The serialized program, as torch.export.save writes it to models/model.json: torch._export.serde's schema, major version 8.
  std::string json;
  // The program itself, where the caller has read it from another format; `json` counts for nothing then.
  std::shared_ptr<const ProgramDef> program = {};
  // What the signature calls by these names ("conv.weight", "k"): an index into ExportedModel::tensors.
  std::map<std::string, size_t> tensors;
};

// Methods that name the same index share the constant, and the state where one of them writes to it.
struct ExportedModel {
  std::vector<TensorData> tensors;
  std::vector<ExportedMethod> methods;
  // Operators, as "namespace::name", that are not decomposed or refused but passed on under that symbolic name for a registered kernel.
  // Its tensors are inputs, its numbers attributes: 32 bits each (f32, s32) in the arguments' order.
  std::set<std::string> custom_ops;
  // Operators that only the caller's format has, by a node's target.
  std::map<std::string, std::function<void(Op&)>> own_ops = {};
  std::string format = "torch.export";  // for the evidence in the compiled file
};

// Fills an empty graph. Everything unsupported is reported at once; false when anything was.
//
// Inputs are the signature's user inputs in their order, under the placeholders' names: tensors, and symbolic integers as s64 scalars.
// Constant inputs (Python numbers, strings, None) are no inputs. Outputs are the user outputs in their order, named by the module's results
// (output_names.h); integers as s64, floats as f64, booleans as bool scalars; None is left out. Mutated buffers are states; a mutated user
// input becomes an additional output "NAME.mutated" behind the others. Open dimensions are symbols named as torch names them ("s77"); --dim
// takes that name or INPUT.AXIS.
bool import_exported(const ExportedModel& model, const ImportOptions& options, ir::Graph& graph, ir::Problems* problems);

// Every operator overload that the importer takes as it is ("aten.linear.default"), sorted: what a table of decompositions should leave
// alone.
std::vector<std::string> supported_operators();

// The table for the documentation: operators, overloads, element types, status. Markdown.
std::string operator_table();

}  // namespace mote::frontends::torch
