#include "mote/compiler/program/registry.h"

#include "mote/ops/op_table.h"

namespace mote::program {

const OpRegistry& builtin_registry() {
  static const OpRegistry registry(builtin_ops());
  return registry;
}

}  // namespace mote::program
