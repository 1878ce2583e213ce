#pragma once

// What a user demands of placement: policy.toml (docs/backends.md), written into the program file.

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace mote::placement {

enum class Fallback : uint8_t { kRefuse, kListed };

// An empty list says nothing; the next more general rule counts.
struct Rule {
  std::vector<std::string> require, allow, forbid;
};

struct Policy {
  Rule all;
  std::map<std::string, Rule> ops, nodes;  // by operator, by node of the source model
  Fallback fallback = Fallback::kRefuse;
  uint32_t max_partitions = 0;      // 0: any number
  uint64_t max_transfer_bytes = 0;  // of one run; 0 with has_transfer_limit false: any number
  bool has_transfer_limit = false;
  std::string text;  // as it was read

  // Whether the rules let a node run there, the more particular ones first. `require` goes before `allow`, `forbid` before both.
  bool permits(const std::string& op, const std::string& node, const std::string& backend) const;
  bool forbids(const std::string& op, const std::string& node, const std::string& backend) const;
  // The backends that must or may serve a node, for messages: "opencl".
  std::string wanted(const std::string& op, const std::string& node) const;
};

// False with *error: "line 3: ...".
bool parse_policy(const std::string& text, Policy* out, std::string* error);

}  // namespace mote::placement
