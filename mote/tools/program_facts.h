#pragma once

// What a program file shows of itself: the part of a report (docs/report.md) that `mote compile --report` and `mote inspect` share.

#include "mote/compiler/target/target.h"
#include "mote/tools/json_out.h"
#include "mote/tools/program_view.h"

namespace mote::tools {

constexpr int kReportVersion = 1;  // of the document: raised when a field changes its meaning or goes

struct FactOptions {
  std::string path;
  ConstBytes external = {};  // constants in a second file, where it is at hand
  bool quick = false;        // without the digest of the file, and without bounds of accumulators where there are many weights
  const target::Target* target = nullptr;  // whose rates bound times; null: the one whose name the program carries, if it comes with Mote
};

// The fields of the document that need nothing but the program.
Json program_facts(const ProgramView& view, const FactOptions& options);

// Rows of the evidence "quant.ops": operator, precision, SQNR in dB, node.
std::vector<std::vector<std::string>> quantized_ops(const std::string& evidence);

// As tables for people: what `mote inspect` does not tell in other words. `all`: accumulators that fit, too.
std::string facts_text(const Json& facts, bool all);

}  // namespace mote::tools
