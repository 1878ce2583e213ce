#pragma once

// The report of a compilation (docs/report.md): one document of facts, written as JSON or as a page.

#include "mote/compiler/driver/compile.h"
#include "mote/tools/program_facts.h"
#include "mote/tools/quantize_settings.h"

namespace mote::tools {

struct ReportInput {
  uint64_t model_bytes = 0;
  std::string weights;  // path of external weights, or empty
  bool given = false;   // examples came from --golden
  const driver::CompileOptions* options = nullptr;
  const driver::CompileResult* result = nullptr;
  const QuantizeResult* quantized = nullptr;  // null: was not quantized here
};

// Of a program that was compiled just now.
Json release_report(const ProgramView& view, const std::string& path, const ReportInput& input);
// Of a program file: without what only compiling tells (coverage, parity, lower bound), which is null.
Json file_report(const ProgramView& view, const std::string& path);

// The document as a page. `sections`: of the quantizer, HTML.
std::string report_html(const Json& report, const std::string& sections);

// By the name: .json or .html. Throws a usage Failure for others (check_report_path) and a Failure when it cannot be written.
void check_report_path(const std::string& path);
void write_report(const std::string& path, const Json& report, const std::string& sections);

}  // namespace mote::tools
