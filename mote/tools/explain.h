#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace mote::tools {

// What Mote knows about a status code or a reason.
struct Explanation {
  std::string kind;  // "status" or "reason"
  uint32_t number;
  std::string name, text, cause, remedy;
};

// By number or name, case and the words between ("BankSize", "bank_size", "200", "Io/FileOpen") do not matter. A number may be a status,
// a reason, or (above 999) a whole mote_status. Empty: nothing has that name.
std::vector<Explanation> explain(const std::string& code);
const std::vector<Explanation>& all_explanations();

}  // namespace mote::tools
