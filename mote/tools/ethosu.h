#pragma once

// `mote compile --target ethos-u55-128`: Arm's Vela compiles a model for an Ethos-U; its command stream and weights become the blob of a
// backend "ethos-u" in the program. Nothing here runs on the device: what the program says of time and memory are Vela's estimates.

#include <string>

#include "mote/compiler/emit/writer.h"
#include "mote/compiler/frontends/frontend.h"

namespace mote::tools {

// "ethos-u55" (128 multiply-adds a cycle), "ethos-u55-32", ..., "ethos-u65-512".
bool is_ethosu(const std::string& target);

struct EthosUResult {
  emit::FileBytes file;
  std::string accelerator, version;  // of Vela
  double cycles = 0, predicted_ns = 0;
  uint64_t sram_bytes = 0, flash_bytes = 0, blob_bytes = 0;
};

// `vela`: the command; empty: found on PATH. Throws Failure: no Vela (with how to get it), what Vela says, operators that stay on the CPU.
EthosUResult compile_ethosu(const frontends::Source& source, const std::string& target, const std::string& vela);

}  // namespace mote::tools
