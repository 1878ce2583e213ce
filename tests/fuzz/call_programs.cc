#include "tests/fuzz/call_programs.h"

#include "mote/compiler/emit/builder.h"
#include "tests/fuzz/mutate.h"
#include "tests/fuzz/random_program.h"

namespace mote::fuzz {
namespace {

using emit::ProgramBuilder;
using emit::TensorId;

// Two methods, with everything a program can say of itself.
void add_static(ProgramBuilder& b) {
  b.begin_method("main");
  const TensorId x = b.input("x", DType::f32, {4});
  const TensorId y = b.op(OpId::add, NoAttrs{}, {x, b.constant_f32({4}, {1, 2, 3, 4})}, "/add");
  b.output("y", b.op(OpId::relu, NoAttrs{}, {y}, "/relu"));
  b.quantization(x, 0.5f, 3);
  b.begin_method("twice");
  const TensorId a = b.input("a", DType::s8, {2, 3});
  b.output("b", b.op(OpId::add, NoAttrs{}, {a, a}));
  b.metadata("name", "static");
  b.evidence("producer", "call sequence");
  b.golden(0, {std::vector<uint8_t>(16)}, {std::vector<uint8_t>(16)}, 1.f);
}

// Two inputs of dynamic sizes and several instructions, so that a run can be interrupted.
void add_dynamic(ProgramBuilder& b) {
  b.begin_method("main");
  TensorId x = b.input("x", DType::f32, {8, 3}, 1);
  TensorId z = b.input("z", DType::s32, {5, 6}, 3);
  for (int i = 0; i < 3; ++i) x = b.op(OpId::relu, NoAttrs{}, {x}, "/x"), z = b.op(OpId::relu, NoAttrs{}, {z}, "/z");
  b.output("y", x);
  b.output("w", z);
  b.begin_method("other");
  b.output("q", b.op(OpId::relu, NoAttrs{}, {b.input("p", DType::f32, {7}, 1)}));
}

// A state that two methods share; one of them loops.
void add_stateful(ProgramBuilder& b) {
  const TensorId s = b.state(DType::f32, {3});
  b.begin_method("count");
  const TensorId x = b.input("x", DType::f32, {3});
  b.op_into(OpId::add, NoAttrs{}, {s, x}, {s});
  b.output("y", b.op(OpId::relu, NoAttrs{}, {s}));
  b.begin_method("loop");
  const TensorId trips = b.constant_s64({}, {4});
  b.begin_loop(trips, emit::kAbsent, emit::kAbsent, 4);
  b.op_into(OpId::relu, NoAttrs{}, {s}, {s});
  b.end();
  b.output("y", b.op(OpId::relu, NoAttrs{}, {s}));
}

}  // namespace

std::vector<uint8_t> any_program_file(Dice& dice, bool* own) {
  emit::FileBytes file;
  std::string error;
  const uint32_t kind = dice.below(10);
  *own = kind < 7;
  if (*own) {
    ProgramBuilder b;
    (kind < 2 ? add_static : kind < 5 ? add_dynamic : add_stateful)(b);
    if (!b.finish(&file, &error)) std::abort();
  } else {
    ProgramShape shape;
    shape.max_ops = 4;
    shape.tries = 60;
    while (!make_program(dice, shape, &file, &error)) {}
  }
  std::vector<uint8_t> bytes(file.data(), file.data() + file.size);
  if (dice.chance(85)) return bytes;
  *own = false;
  if (dice.chance(30)) bytes.resize(dice.below(static_cast<uint32_t>(bytes.size())));
  else if (dice.chance(50)) mutate_program({bytes.data(), bytes.size()}, dice);
  else bytes[dice.below(static_cast<uint32_t>(bytes.size()))] ^= static_cast<uint8_t>(1u << dice.below(8));
  return bytes;
}

}  // namespace mote::fuzz
