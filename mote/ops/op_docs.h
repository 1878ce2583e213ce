#pragma once

// Operators as tools see them: documentation, attribute fields, type sets. Host only; a device never links this.

#include <string>
#include <vector>

#include "mote/core/op.h"
#include "mote/ops/op_id.h"

namespace mote {

struct AttrDoc {
  enum class Kind { kS32, kU32, kF32, kS16, kU16, kS8, kU8 };
  std::string name, doc;
  Kind kind;
  uint32_t offset, count;
  bool array;
};

struct OpDoc {
  uint16_t id;
  std::string name;  // "softmax"
  OpInfo info;
  uint16_t attrs_size;
  std::vector<AttrDoc> attrs;
  std::vector<uint8_t> default_attrs;  // the bytes of a default-constructed attribute struct
};

// Every operator, ordered by id.
const std::vector<OpDoc>& op_docs();
const OpDoc* find_op_doc(uint16_t id);
const OpDoc* find_op_doc(const std::string& name);  // with or without "mote::"

// One attribute as text ("-1", "[1, 1]"), and back. False when the text does not fit the field.
std::string attr_to_text(const AttrDoc& field, const void* attrs);
bool attr_from_text(const AttrDoc& field, const std::string& text, void* attrs);

}  // namespace mote
