#pragma once

// Changes to valid model files: what a broken exporter or a hostile author would write.

#include <cstdint>
#include <vector>

#include "tests/fuzz/dice.h"

namespace mote::fuzz {

using ModelBytes = std::vector<uint8_t>;

// Bytes, words, whole ranges; the file may become shorter. For any format.
void mutate_bytes(ModelBytes& bytes, Dice& dice);

// Fields of an ONNX model by their meaning: numbers, names, types, whole nodes. Falls back to mutate_bytes for what does not parse.
void mutate_onnx(ModelBytes& bytes, Dice& dice);

// Words of a TFLite model's tables: offsets, sizes, enumerations; most changes leave what the FlatBuffers verifier accepts.
void mutate_flatbuffer(ModelBytes& bytes, Dice& dice);

// Tokens of the JSON texts in a file of torch.export: numbers, names, words.
void mutate_pt2(ModelBytes& bytes, Dice& dice);

// The right one for what the bytes look like.
void mutate_model(ModelBytes& bytes, Dice& dice);

}  // namespace mote::fuzz
