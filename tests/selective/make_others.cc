// Writes two programs that a build for the bundled model alone must refuse: one with another operator, one with another type.
//   make_others OPERATOR.mote TYPE.mote

#include <cstdio>

#include "mote/compiler/emit/builder.h"
#include "mote/ops/softmax/softmax.h"

namespace {

using namespace mote;
using namespace mote::emit;

bool save(ProgramBuilder& b, const char* path) {
  FileBytes file;
  std::string error;
  if (b.finish(&file, &error) && save_file(path, file.span(), &error)) return true;
  std::fprintf(stderr, "make_others: %s: %s\n", path, error.c_str());
  return false;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  ProgramBuilder other_op;
  other_op.begin_method("main");
  other_op.output("y", other_op.op(OpId::add, NoAttrs{}, {other_op.input("x", DType::f32, {1, 8}), other_op.constant_f32({1}, {1})}));
  ProgramBuilder other_type;
  other_type.begin_method("main");
  other_type.output("y", other_type.op(OpId::softmax, ops::softmax::Attrs{}, {other_type.input("x", DType::f64, {1, 8})}));
  return save(other_op, argv[1]) && save(other_type, argv[2]) ? 0 : 1;
}
