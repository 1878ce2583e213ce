#include "mote/compiler/frontends/tflite/flexbuffer.h"

#include <algorithm>

#include "flatbuffers/flexbuffers.h"

namespace mote::frontends::tflite {
namespace {

flexbuffers::Reference entry(const ir::Bytes& bytes, const char* key) { return flexbuffers::GetRoot(bytes.data, bytes.size).AsMap()[key]; }

}  // namespace

FlexMap::FlexMap(const ir::Bytes& bytes) : bytes_(bytes) {
  if (bytes.size < 3) return;
  std::vector<uint8_t> reuse;
  ok_ = flexbuffers::VerifyBuffer(bytes.data, bytes.size, &reuse) && flexbuffers::GetRoot(bytes.data, bytes.size).IsMap();
}

int32_t FlexMap::integer(const char* key, int32_t otherwise) const {
  const flexbuffers::Reference r = entry(bytes_, key);
  if (r.IsBool()) return r.AsBool() ? 1 : 0;
  if (!r.IsNumeric()) return otherwise;
  return static_cast<int32_t>(std::max<int64_t>(INT32_MIN, std::min<int64_t>(INT32_MAX, r.IsFloat() ? 0 : r.AsInt64())));
}

float FlexMap::real(const char* key, float otherwise) const {
  const flexbuffers::Reference r = entry(bytes_, key);
  return r.IsNumeric() ? r.AsFloat() : otherwise;
}

}  // namespace mote::frontends::tflite
