#include "mote/compiler/program/records.h"

namespace mote::program {

uint32_t StringPool::add(const std::string& text) {
  const auto found = known_.find(text);
  if (found != known_.end()) return found->second;
  const uint32_t at = static_cast<uint32_t>(bytes_.size());
  for (char c : text) bytes_.push_back(static_cast<uint8_t>(c == 0 ? ' ' : c));
  bytes_.push_back(0);
  known_[text] = at;
  return at;
}

StringPool StringPool::from(ConstBytes bytes) {
  StringPool pool;
  pool.bytes_.assign(bytes.begin(), bytes.end());
  return pool;
}

}  // namespace mote::program
