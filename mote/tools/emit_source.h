#pragma once

// `mote compile --emit cpp`: from a compiled model to OUT.h and OUT.cc.

#include <string>

#include "mote/compiler/driver/compile.h"
#include "mote/compiler/emit/cpp/emit_cpp.h"
#include "mote/tools/quantize_settings.h"

namespace mote::tools {

// What the emitter wants of a plan: outputs on inputs where kernels permit it, no larger alignment than kernels need, room for the
// kernels' scratch memory. `target`: as the user named it, maybe a board's description.
void plan_for_source(const std::string& output, const std::string& target, driver::CompileOptions* options);

// Static quantization in fixed-point arithmetic alone: microcontroller kernels know nothing else.
void quantize_for_source(QuantizeSettings* quantize);

// Writes the pair of files beside `output`. Throws Failure.
emit::CppFiles emit_source(const std::string& output, const std::string& target, const driver::CompileOptions& options,
                           const driver::CompileResult& result);

void print_source(const std::string& model, const emit::CppFiles& files, const driver::CompileResult& result, bool json);

}  // namespace mote::tools
