#pragma once

// Blocks of the graph as regions of the file: nodes in order, those of control flow with regions of their own.

#include <set>

#include "mote/compiler/emit/tosa/writer.h"

namespace mote::emit::tosa {

class Blocks {
 public:
  Blocks(Writer& w, ir::Problems* problems) : w_(w), problems_(problems) {}

  // Into the region that is open. Everything that cannot be written becomes a problem; what depends on it is judged all the same.
  void write(const ir::Block& block);
  // Moves the writer's error to the problems; false when there was one.
  bool report(const std::string& where);
  // Nodes whose results may differ from Mote's by one step: Writer::note_rounding().
  const std::vector<std::string>& rounding() const { return rounding_; }

 private:
  bool lower(const Node& n);
  void lower_if(const Node& n);
  void lower_loop(const Node& n);
  std::vector<Operand> operands(const std::vector<const Value*>& values);
  void stand_in(const Node& n);

  Writer& w_;
  ir::Problems* problems_;
  std::set<const Value*> refused_;
  std::vector<std::string> rounding_;
};

}  // namespace mote::emit::tosa
