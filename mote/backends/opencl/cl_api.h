#pragma once

// The functions of OpenCL 1.2 that are used, found in the system's libOpenCL when the first program asks for them. Nothing links to it.

#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>

#include <string>

namespace mote::backends::opencl {

struct Api {
#define MOTE_CL(name) decltype(&::name) name = nullptr;
#include "mote/backends/opencl/cl_functions.def"
#undef MOTE_CL
};

// Null with *why when the library or one of its functions is not there. Looked for once; any thread.
const Api* find_api(std::string* why);

// Tests put functions that fail in front of the library's; null takes them away. Before any device is found, or after give_up().
void replace_api(const Api* api);

}  // namespace mote::backends::opencl
