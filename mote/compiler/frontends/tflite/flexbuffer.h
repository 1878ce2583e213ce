#pragma once

#include "mote/compiler/ir/graph.h"

namespace mote::frontends::tflite {

// Options of a custom operator: a FlexBuffers map of numbers, verified before it is read.
class FlexMap {
 public:
  explicit FlexMap(const ir::Bytes& bytes);
  bool ok() const { return ok_; }
  // The entry, or `otherwise` when it is absent or no number.
  int32_t integer(const char* key, int32_t otherwise) const;
  float real(const char* key, float otherwise) const;

 private:
  const ir::Bytes& bytes_;
  bool ok_ = false;
};

}  // namespace mote::frontends::tflite
