#pragma once

// Small ONNX models, written as bytes of their protobuf messages: tests of the command need no Python for them.

#include <cstdint>
#include <cstring>
#include <string>
#include <variant>
#include <vector>

namespace mote::tools::cli_test::onnx {

inline std::string varint(uint64_t v) {
  std::string s;
  for (; v >= 128; v >>= 7) s += static_cast<char>(v | 128);
  return s + static_cast<char>(v);
}
// Fields of messages.
inline std::string number(int field, uint64_t v) { return varint(static_cast<uint64_t>(field) << 3) + varint(v); }
inline std::string bytes(int field, const std::string& text) {
  return varint(static_cast<uint64_t>(field) << 3 | 2) + varint(text.size()) + text;
}

// Parts of a graph; put one behind the other they are the argument of model().
inline std::string node(const std::string& op, const std::string& name, const std::vector<std::string>& inputs, const std::string& out) {
  std::string text;
  for (const std::string& in : inputs) text += bytes(1, in);
  return bytes(1, text + bytes(2, out) + bytes(3, name) + bytes(4, op));
}

using Dim = std::variant<int, const char*>;  // a size, or the name of an open one

inline std::string value_info(const std::string& name, const std::vector<Dim>& dims) {
  std::string shape;
  for (const Dim& d : dims)
    shape += bytes(1, d.index() == 0 ? number(1, static_cast<uint64_t>(std::get<int>(d))) : bytes(2, std::get<const char*>(d)));
  return bytes(1, name) + bytes(2, bytes(1, number(1, 1) + bytes(2, shape)));  // 1: float
}
inline std::string input(const std::string& name, const std::vector<Dim>& dims) { return bytes(11, value_info(name, dims)); }
inline std::string output(const std::string& name, const std::vector<Dim>& dims) { return bytes(12, value_info(name, dims)); }

inline std::string constant(const std::string& name, const std::vector<int>& dims, const std::vector<float>& values) {
  std::string text, raw(4 * values.size(), 0);
  std::memcpy(raw.data(), values.data(), raw.size());
  for (const int d : dims) text += number(1, static_cast<uint64_t>(d));
  return bytes(5, text + number(2, 1) + bytes(8, name) + bytes(9, raw));
}

inline std::string model(const std::string& graph) {
  return number(1, 8) + bytes(7, graph + bytes(2, "graph")) + bytes(8, bytes(1, "") + number(2, 13));
}

}  // namespace mote::tools::cli_test::onnx
