#pragma once

// How the C layer turns a Status and its Diagnostic into a sentence.

#include "mote/api/mote.h"
#include "mote/format/reader.h"
#include "mote/runtime/op_registry.h"

// Owns copies of all texts, so that it outlives the program it speaks of.
struct mote_error {
  mote::Status status;
  int32_t instruction = -1;
  int64_t expected = 0, found = 0;
  char op[96] = {};
  char source[160] = {};
  char tensor[160] = {};
  char message[1024] = {};
};

namespace mote::api {

// Where names are found; all may be null.
struct Names {
  const ProgramTable* table = nullptr;
  const OpRegistry* ops = nullptr;
};

// Fills *error (null is fine) and returns the status's bits. `doing` says what was attempted: "open the program".
mote_status report(mote_error* error, const char* doing, const Diagnostic& diagnostic, const Names& names = {}) noexcept;
// The same for failures that no diagnostic describes.
mote_status report(mote_error* error, const char* doing, Status status, int64_t expected = 0, int64_t found = 0,
                   const char* name = nullptr) noexcept;

// Adds ": " and a text to the message; nothing where the text is empty or null. Cut where the message is full.
void append(mote_error* error, const char* text) noexcept;

// "mote::relu"; "" when neither the file nor the registry tells.
const char* op_name(uint16_t op, const Names& names) noexcept;

}  // namespace mote::api
