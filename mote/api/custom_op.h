/* Operators of your own, found by programs through a symbolic name such as "acme::blend". Plain C.
 *
 * Ownership: every pointer passed to the functions below is the runtime's and valid during the call only.
 * Threads: the functions may be called from several threads at once, for different instances.
 * Safety: programs are untrusted. `infer` must check counts, types, shapes and every attribute; after it has accepted them,
 * `run` must be safe for any values in the inputs.
 * Errors: 0 is success; anything else is a mote_code (mote.h), MOTE_INTERNAL if in doubt.
 */
#ifndef MOTE_API_CUSTOM_OP_H_
#define MOTE_API_CUSTOM_OP_H_

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define MOTE_CUSTOM_OP_ABI 1u   /* raised when the structs below change in a way that old operators would notice */
#define MOTE_MAX_CUSTOM_OPS 64u /* in all registries of a process together */

/* A tensor. dims and strides have `rank` entries; strides are bytes and may leave gaps, the innermost dimension is dense.
 * An absent optional input has dtype 0, and so has an output from min_outputs on (the first excepted) that is not wanted. `data` is NULL in
 * infer() while the values are not known. */
typedef struct mote_op_tensor {
  void* data;
  const int32_t* dims;
  const int32_t* strides;
  uint8_t dtype; /* mote_dtype */
  uint8_t rank;
  uint16_t reserved;
} mote_op_tensor;

/* What infer() says of an output. A size only running can tell is -1; the operator then needs MOTE_OP_DATA_DEPENDENT. */
typedef struct mote_op_type {
  int32_t dims[8];
  uint8_t dtype;
  uint8_t rank;
  uint16_t reserved;
} mote_op_type;

typedef struct mote_op_call {
  size_t struct_size;
  const void* attrs; /* attrs_size bytes, 4-byte aligned; what a shorter program leaves out is zero */
  const mote_op_tensor* inputs;
  const mote_op_tensor* outputs; /* NULL in infer() and scratch() */
  uint32_t input_count;
  uint32_t output_count;
  void* scratch; /* what scratch() asked for, 16-byte aligned; NULL in infer() and scratch() */
  size_t scratch_bytes;
  /* Sets the actual size of a dynamic dimension of an output, within its bound: 0, or MOTE_SHAPE. Only with
   * MOTE_OP_DATA_DEPENDENT, in run(). Look at outputs[i].dims and strides again afterwards. */
  uint32_t (*set_output_dim)(const struct mote_op_call* call, uint32_t output, uint32_t axis, int32_t size);
  const void* internal;
} mote_op_call;

enum {
  MOTE_OP_ELEMENTWISE = 1,   /* output may share the bytes of an input of the same shape and width */
  MOTE_OP_DATA_DEPENDENT = 4 /* run() sets output sizes */
};

#define MOTE_OP_VARIADIC 255u

typedef struct mote_custom_op {
  uint32_t abi; /* MOTE_CUSTOM_OP_ABI */
  uint32_t flags;
  const char* name;
  void* user;          /* passed to every function */
  uint32_t attrs_size; /* bytes of the attribute struct this operator knows: fixed-width fields, no padding; at most 256 */
  uint8_t min_inputs, max_inputs, min_outputs, max_outputs; /* at most 60 together; max may be MOTE_OP_VARIADIC */

  uint32_t (*infer)(void* user, const mote_op_call* call, mote_op_type* out_types);
  uint32_t (*run)(void* user, const mote_op_call* call);
  /* Bytes of working memory for these shapes; NULL: none. Depends on shapes, types and attributes alone. */
  uint32_t (*scratch)(void* user, const mote_op_call* call);
} mote_custom_op;

#ifdef __cplusplus
}
#endif

#endif /* MOTE_API_CUSTOM_OP_H_ */
