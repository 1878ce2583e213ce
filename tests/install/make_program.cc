// Writes the program that the installed library is tried with: y = relu(x + 1).
#include <cstdio>

#include "mote/compiler/emit/builder.h"

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  mote::emit::ProgramBuilder b;
  b.begin_method("main");
  const mote::emit::TensorId x = b.input("x", mote::DType::f32, {4});
  const mote::emit::TensorId one = b.constant_f32({4}, {1, 1, 1, 1});
  b.output("y", b.op(mote::OpId::relu, mote::NoAttrs{}, {b.op(mote::OpId::add, mote::NoAttrs{}, {x, one})}));
  mote::emit::FileBytes file;
  std::string error;
  if (b.finish(&file, &error) && mote::emit::save_file(argv[1], file.span(), &error)) return 0;
  std::fprintf(stderr, "%s\n", error.c_str());
  return 1;
}
