#include "mote/tools/golden.h"

#include "mote/tools/input_option.h"

#include <algorithm>

#include "mote/tools/values.h"

namespace mote::tools {

std::vector<GoldenExample> golden_examples(const Session& session) {
  std::vector<GoldenExample> all;
  const uint32_t count = mote_program_golden_count(session.program());
  for (uint32_t i = 0; i < count; ++i) {
    mote_golden g{};
    g.struct_size = sizeof g;
    if (const mote_status s = mote_program_golden(session.program(), i, &g); s != 0) throw failure(session.path(), make_error(s, nullptr));
    auto it = std::find_if(all.begin(), all.end(), [&](const GoldenExample& e) { return e.method == g.method && e.example == g.example; });
    if (it == all.end()) it = all.insert(all.end(), {g.method, g.example, {}, {}});
    const TensorSpec spec = session.specs(g.method, g.is_output != 0)[g.index];
    GoldenTensor t;
    t.index = g.index;
    t.tolerance = g.tolerance;
    t.array.dtype = static_cast<DType>(spec.dtype);
    t.array.dims.assign(g.dims, g.dims + spec.dims.size());
    const auto* bytes = static_cast<const uint8_t*>(g.data);
    t.array.data.assign(bytes, bytes + g.bytes);
    (g.is_output != 0 ? it->outputs : it->inputs).push_back(std::move(t));
  }
  return all;
}

void fill_inputs(Session& session, uint32_t method) { fill_inputs(session, method, {}); }

void fill_inputs(Session& session, uint32_t method, const std::vector<std::string>& given) {
  const std::vector<TensorSpec> specs = session.specs(method, false);
  std::vector<bool> done(specs.size());
  set_given_inputs(session, method, given, &done);
  for (const GoldenExample& e : golden_examples(session)) {
    if (e.method != method) continue;
    for (const GoldenTensor& t : e.inputs) {
      if (done[t.index]) continue;
      session.set_input(method, t.index, t.array);
      done[t.index] = true;
    }
    break;
  }
  driver::Random random(1);
  for (uint32_t i = 0; i < specs.size(); ++i) {
    if (done[i]) continue;
    std::vector<uint8_t> data(specs[i].bytes);
    fill_random(static_cast<DType>(specs[i].dtype), random, &data);
    session.set_input(method, i, specs[i].dims, data.data(), data.size());
  }
}

Comparison compare(const NpyArray& found, const GoldenTensor& expected) {
  const driver::Difference d = driver::difference(found, expected.array);
  return {d, expected.tolerance * d.largest_expected, d.within(expected.tolerance)};
}

}  // namespace mote::tools
