#pragma once

// Which part of a graph runs on which backend. The parts that leave the CPU become delegate nodes, each with a blob that its backend made.

#include <string>
#include <vector>

#include "mote/api/backend_compiler.h"
#include "mote/compiler/ir/graph.h"
#include "mote/compiler/ir/problem.h"
#include "mote/compiler/placement/policy.h"
#include "mote/compiler/program/records.h"
#include "mote/compiler/target/target.h"
#include "mote/runtime/op_registry.h"

namespace mote::placement {

struct PlaceOptions {
  std::vector<const mote_backend_compiler*> backends;  // that may be used, besides the CPU
  Policy policy;
  const target::Target* target = nullptr;  // what the CPU does; null: the generic one
  uint32_t threads = 1;
  const OpRegistry* ops = nullptr;  // null: the built-in operators
};

// A run of nodes on one backend.
struct Piece {
  std::string backend;  // "cpu", or a backend's name
  std::vector<std::string> nodes;
  double predicted_ns = 0;
  uint64_t bytes_in = 0, bytes_out = 0;
  int32_t blob = -1;  // in Placed::blobs
  bool has_fallback = false;
};

struct Blob {
  std::string backend, version, capabilities;
  std::vector<uint8_t> bytes;
  uint64_t device_bytes = 0;
};

struct Placed {
  std::vector<Piece> pieces;  // in the order they run
  std::vector<Blob> blobs;    // backends of delegate nodes: DelegateAttrs::backend
  double predicted_ns = 0, cpu_ns = -1;
  uint64_t transfer_bytes = 0;
  std::vector<std::string> notes;  // operators no backend takes, with the reasons, a line each
};

// Places every method's own nodes; what is inside of ifs and loops stays on the CPU. False with every node that cannot be placed as
// the policy demands, and why.
bool place(ir::Graph& graph, const PlaceOptions& options, Placed* out, ir::Problems* problems);

// Writes blobs, placement and policy into the records of the placed graph.
void record(const Placed& placed, const Policy& policy, program::ProgramRecords* records);

}  // namespace mote::placement
