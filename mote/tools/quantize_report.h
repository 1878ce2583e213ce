#pragma once

#include "mote/tools/quantize_settings.h"

namespace mote::tools {

// One self-contained page: figures and sizes before and after, the worst operators with what to try, the error of every operator, and
// what weights and activations look like. `before` is the float model, compiled in the same way, `after` the program.
// Its sections alone, for a page that has more to say.
std::string quantize_sections(const QuantizeResult& result, const quant::Quantizer& quantizer, const driver::CompileResult& before,
                              const driver::CompileResult& after);
std::string quantize_report(const std::string& model, const QuantizeResult& result, const quant::Quantizer& quantizer,
                            const driver::CompileResult& before, const driver::CompileResult& after);

}  // namespace mote::tools
