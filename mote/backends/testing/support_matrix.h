#pragma once

// What a backend answered for the cases of each operator, as a table for people.

#include <map>
#include <string>

#include "mote/backends/testing/conformance.h"

namespace mote::backends {

class SupportMatrix {
 public:
  void add(OpId op, DType type, const CaseResult& result);
  // Markdown.
  std::string text(const std::string& backend) const;
  int supported() const;
  int cases() const;

 private:
  struct Row {
    int cases = 0, supported = 0;
    std::map<std::string, int> reasons;
  };
  std::map<OpId, std::map<DType, Row>> rows_;
};

}  // namespace mote::backends
