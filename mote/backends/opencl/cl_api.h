#pragma once

// The functions of OpenCL 1.2 that are used, found in the system's libOpenCL when the first program asks for them. Nothing links to it.

#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>

#include <string>

namespace mote::backends::opencl {

#define MOTE_CL_FUNCTIONS(X)                                                                                                           \
  X(clGetPlatformIDs)                                                                                                                  \
  X(clGetPlatformInfo)                                                                                                                 \
  X(clGetDeviceIDs) X(clGetDeviceInfo) X(clCreateContext) X(clReleaseContext) X(clCreateCommandQueue) X(clReleaseCommandQueue)         \
      X(clCreateProgramWithSource) X(clBuildProgram) X(clGetProgramBuildInfo) X(clReleaseProgram) X(clCreateKernel) X(clReleaseKernel) \
          X(clSetKernelArg) X(clCreateBuffer) X(clReleaseMemObject) X(clEnqueueNDRangeKernel) X(clEnqueueReadBuffer)                   \
              X(clEnqueueWriteBuffer) X(clFinish) X(clFlush)

struct Api {
#define MOTE_CL_MEMBER(name) decltype(&::name) name = nullptr;
  MOTE_CL_FUNCTIONS(MOTE_CL_MEMBER)
#undef MOTE_CL_MEMBER
};

// Null with *why when the library or one of its functions is not there. Looked for once; any thread.
const Api* find_api(std::string* why);

}  // namespace mote::backends::opencl
