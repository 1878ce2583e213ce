#pragma once

// A payload of the XNNPACK delegate as a model of its own. A file of them holds, after the text MXP1: a 32-bit count, then for each part
// the length of its key, the key, the length of its bytes, the bytes; lengths have 32 bits. The first part is the payload, the others named
// data.

#include <map>
#include <string>

#include "mote/compiler/frontends/frontend.h"

namespace mote::frontends::executorch {

struct PayloadParts {
  ir::Bytes payload;
  std::map<std::string, ir::Bytes, std::less<>> named;
};

// False when the bytes are no such file; parts point into them.
bool read_payload_file(const ir::Bytes& file, PayloadParts* out);

// A source whose graph is the payload's alone, its inputs and outputs those of the method.
Source source_of_payload(const PayloadParts& parts);

// What such a source's method takes as input i.
ir::Type input_type_of_payload(const PayloadParts& parts, size_t i);

}  // namespace mote::frontends::executorch
