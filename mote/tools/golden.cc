#include "mote/tools/golden.h"

#include <algorithm>
#include <cmath>

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

Comparison compare(const NpyArray& found, const GoldenTensor& expected) {
  Comparison c;
  c.same_type = found.dtype == expected.array.dtype && found.dims == expected.array.dims;
  if (!c.same_type) return c;
  const std::vector<double> a = to_doubles(found.dtype, found.data.data(), found.data.size());
  const std::vector<double> b = to_doubles(expected.array.dtype, expected.array.data.data(), expected.array.data.size());
  for (const double v : b)
    if (std::isfinite(v)) c.largest_expected = std::max(c.largest_expected, std::fabs(v));
  c.allowed = expected.tolerance * c.largest_expected;
  bool good = true;
  for (size_t i = 0; i < b.size(); ++i) {
    // Values that are not numbers must be the same; a difference of infinities means nothing.
    if (!std::isfinite(a[i]) || !std::isfinite(b[i])) {
      good = good && (a[i] == b[i] || (std::isnan(a[i]) && std::isnan(b[i])));
      continue;
    }
    c.largest_error = std::max(c.largest_error, std::fabs(a[i] - b[i]));
  }
  c.passed = expected.tolerance == 0 ? found.data == expected.array.data : good && c.largest_error <= c.allowed;
  return c;
}

}  // namespace mote::tools
