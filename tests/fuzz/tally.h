#pragma once

#include <cstdio>
#include <cstdlib>

#include "tests/fuzz/run_untrusted.h"

namespace mote::fuzz {

// What a fuzz target did, printed when it ends: executions that only met a refusal prove less than those that ran something.
struct Tally {
  explicit Tally(const char* target) : name(target) {}
  ~Tally() {
    unsigned ops = 0;
    for (const bool b : op_ran) ops += b ? 1 : 0;
    std::fprintf(stderr, "%s: %llu executions, %llu opened, %llu ran, %llu instructions, %u operators, %llu delegated\n", name,
                 static_cast<unsigned long long>(executions), static_cast<unsigned long long>(opened), static_cast<unsigned long long>(ran),
                 static_cast<unsigned long long>(instructions), ops, static_cast<unsigned long long>(delegated));
  }

  void count(const UntrustedResult& r) {
    if (r.broken != nullptr) {
      std::fprintf(stderr, "%s: %s\n", name, r.broken);
      std::abort();
    }
    opened += r.open.ok() ? 1 : 0;
    ran += r.methods_run > 0 ? 1 : 0;
    instructions += r.instructions;
    delegated += r.delegated ? 1 : 0;
    for (const uint16_t op : r.ops) op_ran[op] = true;
  }

  const char* name;
  uint64_t executions = 0, opened = 0, ran = 0, instructions = 0, delegated = 0;
  bool op_ran[65536] = {};
};

}  // namespace mote::fuzz
