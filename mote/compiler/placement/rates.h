#pragma once

// What operators cost: by rates that were measured (target::BackendRates), or else by those that a backend assumes.

#include "mote/api/backend_compiler.h"
#include "mote/compiler/target/target.h"

namespace mote::placement {

mote_backend_rates rates_of(const mote_backend_compiler& backend, const target::Target& target);

// The CPU seen as backends are: kinds of work whose cost is measured by running operators.
constexpr uint32_t kCpuWorkCount = 9;
extern const char* const kCpuWorkNames[kCpuWorkCount];
void cpu_work(const mote_backend_op* op, const mote_backend_rates* rates, double* units);
double cpu_cost_ns(const mote_backend_op& op, const target::BackendRates& measured);

}  // namespace mote::placement
