#include "mote/compiler/emit/cpp/names.h"

#include <set>

namespace mote::emit {

const char* c_type(DType t) {
  switch (t) {
    case DType::f32: return "float";
    case DType::f64: return "double";
    case DType::s8: return "int8_t";
    case DType::s16: return "int16_t";
    case DType::u16: return "uint16_t";
    case DType::s32: return "int32_t";
    case DType::u32: return "uint32_t";
    case DType::s64: return "int64_t";
    case DType::u64: return "uint64_t";
    default: return "uint8_t";
  }
}

std::string identifier(const std::string& text) {
  std::string name;
  for (const char c : text) name += (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ? c : '_';
  if (name.empty() || (name[0] >= '0' && name[0] <= '9')) name.insert(0, "m");
  static const std::set<std::string> kTaken = {"int",      "float", "double", "char",  "bool", "this",  "new",    "delete", "class",
                                               "struct",   "for",   "if",     "do",    "else", "while", "switch", "case",   "default",
                                               "return",   "const", "auto",   "main",  "mote", "std",   "long",   "short",  "signed",
                                               "unsigned", "void",  "true",   "false", "not",  "and",   "or"};
  return kTaken.count(name) > 0 ? name + "_" : name;
}

}  // namespace mote::emit
