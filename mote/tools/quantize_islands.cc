#include "mote/tools/quantize_islands.h"

#include <map>
#include <set>

#include "mote/ops/op_id.h"

namespace mote::tools {

std::vector<std::vector<uint32_t>> float_islands(const ProgramTable& t) {
  const auto is = [](const Instruction& n, OpId id) { return n.op == static_cast<uint16_t>(id); };
  const auto each = [&](const Instruction& n, bool outputs, auto visit) {
    for (uint32_t k = outputs ? n.input_count : 0; k < (outputs ? n.input_count + uint32_t{n.output_count} : n.input_count); ++k) {
      const int32_t tensor = t.operands[n.operands + k];
      if (tensor >= 0 && t.tensors[static_cast<size_t>(tensor)].storage != Storage::kConstant) visit(tensor);
    }
  };
  const auto real = [&](int32_t tensor) { return t.tensors[static_cast<size_t>(tensor)].dtype == DType::f32; };
  std::vector<uint32_t> group(t.instructions.size);  // chains are followed to the first instruction of a group
  const auto root = [&](uint32_t i) {
    while (group[i] != i) i = group[i];
    return i;
  };
  std::map<int32_t, uint32_t> maker;  // tensor -> float instruction
  std::set<int32_t> from_integers;    // f32 tensors that were integers
  std::set<uint32_t> begins, ends, members;
  for (uint32_t i = 0; i < t.instructions.size; ++i) {
    const Instruction& n = t.instructions[i];
    group[i] = i;
    bool all_real = n.input_count > 0 && n.output_count > 0;
    each(n, false, [&](int32_t x) { all_real &= real(x); });
    each(n, true, [&](int32_t x) { all_real &= real(x); });
    if (is(n, OpId::quantize) || is(n, OpId::dynamic_quantize)) {
      each(n, false, [&](int32_t x) {
        if (maker.count(x) > 0) ends.insert(maker[x]);
      });
    } else if (all_real) {
      members.insert(i);
      each(n, false, [&](int32_t x) {
        if (from_integers.count(x) > 0) begins.insert(i);
        if (maker.count(x) > 0) group[root(i)] = root(maker[x]);
      });
    }
    each(n, true, [&](int32_t x) {
      maker.erase(x);
      from_integers.erase(x);
      if (all_real) maker[x] = i;
      else if (real(x)) from_integers.insert(x);
    });
  }
  std::set<uint32_t> first, last;
  for (const uint32_t i : begins) first.insert(root(i));
  for (const uint32_t i : ends) last.insert(root(i));
  std::map<uint32_t, std::vector<uint32_t>> islands;
  for (const uint32_t i : members)
    if (first.count(root(i)) > 0 && last.count(root(i)) > 0) islands[root(i)].push_back(i);
  std::vector<std::vector<uint32_t>> all;
  for (auto& island : islands) all.push_back(std::move(island.second));
  return all;
}

size_t count_integer_operators(const ProgramTable& t) {
  size_t count = 0;
  for (const Instruction& n : t.instructions) {
    if (n.op == static_cast<uint16_t>(OpId::quantize) || n.op == static_cast<uint16_t>(OpId::dequantize)) continue;
    bool narrow = false;
    for (uint32_t k = 0; k < n.input_count + uint32_t{n.output_count}; ++k) {
      const int32_t tensor = t.operands[n.operands + k];
      if (tensor < 0 || t.tensors[static_cast<size_t>(tensor)].storage == Storage::kConstant) continue;
      const DType d = t.tensors[static_cast<size_t>(tensor)].dtype;
      narrow |= d == DType::s8 || d == DType::u8 || d == DType::s16;
    }
    count += narrow ? 1 : 0;
  }
  return count;
}

}  // namespace mote::tools
