#pragma once

// Sizes of work-groups found by trying them on the device: text, in a blob or beside the kernels' binaries. It says for which device and
// driver it holds; sizes belong to a kernel and the numbers of work-items it is launched with.

#include <memory>
#include <string>

#include "mote/backends/opencl/device.h"

namespace mote::backends::opencl {

// Whether the user asks for it: MOTE_OPENCL_TUNE=1.
bool wants_tuning();

// Tries sizes for every launch that leaves them open, which takes seconds. Empty with *error when the device fails.
std::string tune(const std::shared_ptr<const Device>& device, const Plan& plan, Error* error);

// Changes the plan's launches to what the text says. False when it is for another device, or no such text.
bool apply_tuning(const std::string& text, const Device& device, Plan* plan);

// As init() gets them: from the blob's text, else from what was kept on this system, else, where the user asks, found now and kept.
Error find_tuning(const std::string& from_blob, const std::shared_ptr<const Device>& device, Plan* plan);

}  // namespace mote::backends::opencl
