/* The half of a backend that the compiler asks (the other half, which runs on the device, is backend.h). Plain C, so that it can come
 * with a plug-in. A piece of a model that shall run on the backend is handed over as a Mote program (mote/format/SPEC.md): one method,
 * dense tensors, static sizes. What becomes of it, the blob, is the backend's own business.
 *
 * Ownership: every pointer is valid during the call alone; texts that are returned are static.
 * Threads: any number at once.
 */
#ifndef MOTE_API_BACKEND_COMPILER_H_
#define MOTE_API_BACKEND_COMPILER_H_

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Raised when the structs below change; the compiler refuses another number. */
#define MOTE_BACKEND_COMPILER_ABI 3u
#define MOTE_BACKEND_WORK_KINDS 32u

/* An operand's type. dims has `rank` entries. */
typedef struct mote_backend_operand {
  const int32_t* dims;
  const void* data; /* of constants, in their layout; NULL otherwise */
  uint8_t present;  /* 0: an optional operand that is left out; nothing else is valid then */
  uint8_t dtype;    /* values of mote/core/dtype.def */
  uint8_t rank;
  uint8_t layout;  /* mote::Layout: 0 plain */
  uint8_t dynamic; /* bit i: dims[i] is an upper bound */
  uint8_t reserved[3];
} mote_backend_operand;

typedef struct mote_backend_op {
  uint16_t op; /* mote/ops/ops.def */
  uint16_t attrs_size;
  uint32_t input_count, output_count;
  const void* attrs; /* the operator's attribute struct, complete */
  const mote_backend_operand* inputs;
  const mote_backend_operand* outputs;
  uint64_t macs;  /* multiply-adds */
  uint64_t bytes; /* operands read and written */
} mote_backend_op;

/* What a device does. The backend's own guess unless the user measured. */
typedef struct mote_backend_rates {
  double gflops;                           /* a multiply-add is two */
  double memory_gbps;                      /* of the device's own memory */
  double transfer_gbps;                    /* between host and device */
  double launch_ns;                        /* of one operator */
  double sync_ns;                          /* of handing over to the device and back */
  double units;                            /* that compute at once; 0: not known */
  double work_ns[MOTE_BACKEND_WORK_KINDS]; /* of one unit of each kind of work() */
} mote_backend_rates;

typedef struct mote_backend_compiler {
  uint32_t abi; /* MOTE_BACKEND_COMPILER_ABI */
  const char* name;
  const char* version;      /* written beside each blob, and given to the device side's probe() */
  const char* capabilities; /* likewise */
  mote_backend_rates rates;

  /* NULL when the operator can run on the backend; else why not, for people. */
  const char* (*supports)(const mote_backend_op* op);

  /* How long it takes there, without launch and transfers. */
  double (*cost_ns)(const mote_backend_op* op, const mote_backend_rates* rates);

  /* Turns a piece into a blob: hands its bytes to emit(), in order, and says how much device memory it takes. 0 for success. */
  uint32_t (*lower)(const uint8_t* program, uint64_t size, void (*emit)(void* self, const void* data, uint64_t bytes), void* self,
                    uint64_t* device_bytes);

  /* Work by kinds of the backend's own, so that `mote measure` can find out what a unit of each costs on a device: work() adds the units
   * an operator needs to units[MOTE_BACKEND_WORK_KINDS], and cost_ns() uses rates->work_ns. Names are static, [a-z0-9_]. 0 kinds, and
   * work may be NULL: there is nothing to measure besides transfers and hand-over. */
  uint32_t work_count;
  const char* const* work_names;
  void (*work)(const mote_backend_op* op, const mote_backend_rates* rates, double* units);

  /* How far results may be from the CPU's, relative to the largest: what examples in the program are compared by. 0: 1e-3. */
  double tolerance;
} mote_backend_compiler;

#ifdef __cplusplus
}
#endif

#endif /* MOTE_API_BACKEND_COMPILER_H_ */
