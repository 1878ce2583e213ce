#include "mote/tools/first_difference.h"

#include <algorithm>

namespace mote::tools {
namespace {

// The channels of (N, C, ...) moved to the end: spatial values are channels-last inside a program.
Array channels_last(const Array& a) {
  Array out{a.dtype, a.dims, std::vector<uint8_t>(a.data.size())};
  out.dims.erase(out.dims.begin() + 1);
  out.dims.push_back(a.dims[1]);
  const size_t element = dtype_bytes(a.dtype), channels = static_cast<size_t>(a.dims[1]);
  const auto batch = static_cast<size_t>(a.dims[0]);
  if (batch * channels == 0) return out;
  const size_t inner = a.data.size() / element / batch / channels;
  for (size_t n = 0; n < batch; ++n)
    for (size_t c = 0; c < channels; ++c)
      for (size_t i = 0; i < inner; ++i)
        std::copy_n(a.data.data() + ((n * channels + c) * inner + i) * element, element,
                    out.data.data() + ((n * inner + i) * channels + c) * element);
  return out;
}

}  // namespace

FirstDifference first_difference(const std::vector<NamedArray>& found, const std::vector<NamedArray>& expected,
                                 const std::map<std::string, std::string>& nodes, const Judgement& judgement) {
  FirstDifference first;
  std::map<std::string, const Array*> by_name;
  for (const NamedArray& e : expected) by_name.emplace(e.name, &e.array);
  for (const NamedArray& f : found) {
    const auto it = by_name.find(f.name);
    if (it == by_name.end()) continue;
    const Array& e = *it->second;
    ++first.compared;
    if (agrees(f.array, e, judgement)) continue;
    const bool spatial = e.dims.size() >= 3 && dtype_bytes(e.dtype) > 0 && e.dims.size() == f.array.dims.size();
    if (spatial && agrees(f.array, channels_last(e), judgement)) continue;
    driver::Difference d = driver::difference(f.array, e);
    if (!d.same_type && spatial) d = driver::difference(f.array, channels_last(e));
    if (!d.same_type) continue;  // another thing under the same name, such as what a pass has reshaped
    const auto node = nodes.find(f.name);
    return {true, first.compared, f.name, node != nodes.end() ? node->second : "", d};
  }
  return first;
}

}  // namespace mote::tools
