/* The interface between the runtime and an accelerator or library. Plain C, so that a backend can be a plug-in.
 *
 * Ownership: the runtime owns every pointer it passes; a backend keeps none of them after the call, except the blob, which
 * stays valid until destroy() unless init() sets release_blob.
 * Threads: init, execute and destroy of one handle are called by one thread at a time; different handles may be used at once.
 * Errors: functions that return uint32_t give 0 for success, anything else is reported as "the backend failed" with that number.
 * Nothing may be thrown out of them: they are called from code without exceptions.
 * Operands whose sizes are dynamic come to execute with those they have now, at most those that init saw.
 */
#ifndef MOTE_API_BACKEND_H_
#define MOTE_API_BACKEND_H_

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Raised when the structs below change; the runtime refuses a backend with another number. */
#define MOTE_BACKEND_ABI 3u

/* A number from probe() with this bit: there is no device, or no driver for it. Without it: it is there and cannot run the blob. */
#define MOTE_BACKEND_ABSENT 0x10000u

/* A tensor as a backend sees it. dims and strides have `rank` entries; strides are in bytes, the innermost dimension is dense. */
typedef struct mote_backend_tensor {
  void* data;
  const int32_t* dims;
  const int32_t* strides;
  uint8_t dtype; /* values of mote/core/dtype.def */
  uint8_t rank;
  uint16_t reserved;
} mote_backend_tensor;

/* What a program carries for a backend: the bytes its compiler wrote, with the version and capabilities they need. */
typedef struct mote_backend_blob {
  const uint8_t* data;
  uint64_t size;
  const char* version;
  const char* capabilities;
  uint32_t entry; /* which of the blob's entry points this instruction calls */
} mote_backend_blob;

typedef struct mote_backend {
  uint32_t abi; /* MOTE_BACKEND_ABI */
  const char* name;
  const char* version;

  /* 0 when the device is there and can run a blob that needs these capabilities; see MOTE_BACKEND_ABSENT. */
  uint32_t (*probe)(const char* version, const char* capabilities);

  /* Prepares a blob for running. *handle is passed to execute and destroy. *release_blob = 1 lets the loader free the blob.
   * The operand list tells shapes; data pointers are not valid yet. */
  uint32_t (*init)(const mote_backend_blob* blob, const mote_backend_tensor* inputs, uint32_t input_count,
                   const mote_backend_tensor* outputs, uint32_t output_count, void** handle, uint32_t* release_blob);

  uint32_t (*execute)(void* handle, const mote_backend_tensor* inputs, uint32_t input_count, const mote_backend_tensor* outputs,
                      uint32_t output_count);

  void (*destroy)(void* handle);

  /* What a number that one of these functions returned means, for people; a static text. May be NULL. */
  const char* (*describe)(uint32_t error);

  /* Device and driver in use, for people and for reports: "NVIDIA H200, driver 580.159"; "" without one. *units: how many compute at once
   * (a GPU's compute units, cores), 0 when not known. May be NULL. */
  const char* (*device)(uint32_t* units);

  /* execute() in two halves, so that the CPU or another device can work meanwhile: submit() hands the work over and sets *fence, wait()
   * returns when the outputs are there. Operands stay as they are in between, and each fence is waited for exactly once, before the next
   * submit, execute or destroy of its handle. A submit that fails leaves no fence. Both NULL: execute() is called. */
  uint32_t (*submit)(void* handle, const mote_backend_tensor* inputs, uint32_t input_count, const mote_backend_tensor* outputs,
                     uint32_t output_count, void** fence);
  uint32_t (*wait)(void* handle, void* fence);
} mote_backend;

#ifdef __cplusplus
}
#endif

#endif /* MOTE_API_BACKEND_H_ */
