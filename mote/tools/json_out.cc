#include "mote/tools/json_out.h"

#include <cstdio>

namespace mote::tools {

std::string json_text(const Json& json) { return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n"; }

void print_json(const Json& json) { std::printf("%s", json_text(json).c_str()); }

Json spec_json(const TensorSpec& spec) {
  Json j = {{"name", spec.name}, {"dtype", mote_dtype_name(spec.dtype)}, {"dims", spec.dims}};
  Json dynamic = Json::array();
  for (size_t i = 0; i < spec.dims.size(); ++i)
    if ((spec.dynamic >> i & 1) != 0) dynamic.push_back(i);
  j["dynamic_axes"] = dynamic;
  j["bytes"] = spec.bytes;
  if (spec.quantized) j["quantization"] = {{"scale", spec.scale}, {"zero_point", spec.zero_point}};
  return j;
}

}  // namespace mote::tools
