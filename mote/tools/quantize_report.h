#pragma once

#include "mote/tools/quantize_settings.h"

namespace mote::tools {

// One self-contained page: figures before and after, the error of every operator, and what weights and activations look like.
std::string quantize_report(const std::string& model, const QuantizeResult& result, const quant::Quantizer& quantizer);

}  // namespace mote::tools
