#include "mote/compiler/emit/cpp/source.h"

#include <cstdio>

namespace mote::emit {

std::string Constants::words(std::vector<uint32_t> values) {
  if (values.empty()) values.push_back(0);
  const auto found = known_.find(values);
  if (found != known_.end()) return found->second;
  const std::string name = "kData" + std::to_string(known_.size());
  text_ += "MOTE_CONSTANT const uint32_t " + name + "[" + std::to_string(values.size()) + "] = {";
  char word[16];
  for (size_t i = 0; i < values.size(); ++i) {
    std::snprintf(word, sizeof word, "0x%x,", values[i]);
    text_ += (i % 12 == 0 ? "\n    " : " ") + std::string(word);
  }
  text_ += "\n};\n";
  bytes_ += values.size() * 4;
  known_.emplace(std::move(values), name);
  return name;
}

std::string Constants::bytes(const uint8_t* data, size_t size) {
  std::vector<uint32_t> all((size + 3) / 4);
  if (size > 0) std::memcpy(all.data(), data, size);
  return words(std::move(all));
}

}  // namespace mote::emit
