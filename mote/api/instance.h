/* Instances: memory, inputs and outputs, runs. mote.h has the rules that hold for all of it. */
#ifndef MOTE_API_INSTANCE_H_
#define MOTE_API_INSTANCE_H_

#include "mote/api/program.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A program with memory to run in. One thread at a time. Keeps its program alive. */
typedef struct mote_instance mote_instance;

/* Memory the caller owns, sized by the certificate and kept until the instance is destroyed. */
typedef struct mote_memory {
  void* data;
  uint64_t bytes;
} mote_memory;

typedef struct mote_instance_options {
  size_t struct_size;
  uint64_t memory_limit_bytes; /* most this library may allocate for the instance; 0: no limit */
  const mote_memory* instance; /* NULL: this library allocates it; likewise below */
  const mote_memory* scratch;
  const mote_memory* banks; /* bank_count of them */
  uint32_t bank_count;
  uint32_t threads;    /* that share the work of one run; 0 and 1: the caller's alone, which then takes no lock and touches no atomic */
  mote_trace_fn trace; /* NULL: nothing is traced, nothing is spent */
  void* trace_context;
  /* Threads of the caller's instead of a pool of this library's: calls body(body_context, i, thread) once for every i in [0, count), with
   * thread in [0, threads), and returns when all are done. NULL: this library makes threads - 1 of its own for the instance. */
  void (*parallel_for)(void* parallel_context, uint32_t count, void (*body)(void* body_context, uint32_t index, uint32_t thread),
                       void* body_context);
  void* parallel_context;
  const char* kernels; /* instruction set of the kernels, by name (mote_kernels_name()); NULL: the most able one this machine has */
} mote_instance_options;

/* Names of the kernels this machine can run, from 0 on: "portable", then instruction sets from the least to the most able; NULL behind the
 * last one. Integer results are the same with all of them. */
MOTE_EXPORT const char* mote_kernels_name(uint32_t index);

MOTE_EXPORT mote_status mote_instance_create(mote_program* program, const mote_instance_options* options, mote_instance** out_instance,
                                             mote_error* error);
MOTE_EXPORT void mote_instance_destroy(mote_instance* instance);
MOTE_EXPORT uint64_t mote_instance_allocated_bytes(const mote_instance* instance);
/* Another limit from now on; 0: none. MOTE_OUT_OF_MEMORY where the instance holds more already: the limit then stays as it was. */
MOTE_EXPORT mote_status mote_instance_set_memory_limit(mote_instance* instance, uint64_t bytes, mote_error* error);

/* Uses the caller's buffer, without a copy, until it is bound anew or the instance is destroyed. It holds the tensor densely
 * (unless the program says otherwise), aligned to its element type. An output needs room for the largest size, an input for
 * the size set by mote_instance_set_input_dims(). While a run of the method is stepped: the rest of it uses the new buffer, unless
 * a backend still works on the old one; that is waited for, and the run has ended. */
MOTE_EXPORT mote_status mote_instance_bind_input(mote_instance* instance, uint32_t method, uint32_t index, const void* data, uint64_t bytes,
                                                 mote_error* error);
MOTE_EXPORT mote_status mote_instance_bind_output(mote_instance* instance, uint32_t method, uint32_t index, void* data, uint64_t bytes,
                                                  mote_error* error);
/* Gives every input and output of a method that has no buffer one of this library's. */
MOTE_EXPORT mote_status mote_instance_own_io(mote_instance* instance, uint32_t method, mote_error* error);
/* Copies dense bytes in; allocates the library's buffer on first use. A bound buffer of the caller's is left alone: MOTE_BUSY. */
MOTE_EXPORT mote_status mote_instance_set_input(mote_instance* instance, uint32_t method, uint32_t index, const void* data, uint64_t bytes,
                                                mote_error* error);
/* Copies an output out, densely, at its present size: *out_bytes tells how many bytes that was; may be NULL. */
MOTE_EXPORT mote_status mote_instance_get_output(mote_instance* instance, uint32_t method, uint32_t index, void* data, uint64_t capacity,
                                                 uint64_t* out_bytes, mote_error* error);
/* Sets the sizes of an input with dynamic dimensions. Fixed ones must be what they are. A bound buffer that is too small for the new size
 * is no longer bound. A new size ends a run of the method that was begun: mote_instance_step() then gives MOTE_INVALID_ARGUMENT. */
MOTE_EXPORT mote_status mote_instance_set_input_dims(mote_instance* instance, uint32_t method, uint32_t index, const int32_t* dims,
                                                     uint32_t rank, mote_error* error);
/* The sizes now: of an output after a run, what the run gave. `dims` has room for MOTE_MAX_RANK. */
MOTE_EXPORT mote_status mote_instance_input_dims(const mote_instance* instance, uint32_t method, uint32_t index, int32_t* dims,
                                                 uint32_t* out_rank);
MOTE_EXPORT mote_status mote_instance_output_dims(const mote_instance* instance, uint32_t method, uint32_t index, int32_t* dims,
                                                  uint32_t* out_rank);
/* The buffer in use, in place; NULL while there is none. */
MOTE_EXPORT void* mote_instance_input_data(mote_instance* instance, uint32_t method, uint32_t index);
MOTE_EXPORT const void* mote_instance_output_data(const mote_instance* instance, uint32_t method, uint32_t index);

/* A wish to stop, from another thread: the run ends between two instructions with MOTE_CANCELLED. */
typedef struct mote_cancel mote_cancel;
MOTE_EXPORT mote_cancel* mote_cancel_create(void); /* NULL when there is no memory */
MOTE_EXPORT void mote_cancel_request(mote_cancel* cancel);
MOTE_EXPORT void mote_cancel_reset(mote_cancel* cancel);
MOTE_EXPORT void mote_cancel_destroy(mote_cancel* cancel);

/* Nanoseconds on the clock of deadlines. Always 0 on a board without a clock: no deadline passes there. */
MOTE_EXPORT uint64_t mote_clock_ns(void);

typedef struct mote_run_options {
  size_t struct_size;
  uint32_t max_steps; /* instructions; 0: the program's own bound */
  uint32_t reserved;
  uint64_t deadline_ns; /* on mote_clock_ns(); checked between instructions; 0: none */
  const mote_cancel* cancel;
} mote_run_options;

/* Runs a method to its end. Allocates nothing. With one thread: no lock, no system call; with more, its pool wakes (futex, under a mutex),
 * waits (sched_yield), reads the clock. Backends, custom operators, the trace hook and a deadline's clock come on top. After an error the
 * instance can be run again; outputs and state are undefined until reset_state and the next run. `options` may be NULL. */
MOTE_EXPORT mote_status mote_instance_run(mote_instance* instance, uint32_t method, const mote_run_options* options, mote_error* error);

/* Step by step: begin, then step until it returns something other than MOTE_PAUSED. */
MOTE_EXPORT mote_status mote_instance_begin(mote_instance* instance, uint32_t method, mote_error* error);
MOTE_EXPORT mote_status mote_instance_step(mote_instance* instance, uint32_t instructions, const mote_run_options* options,
                                           mote_error* error);
MOTE_EXPORT uint32_t mote_instance_position(const mote_instance* instance); /* the instruction that runs next */

/* Parts of the program that run on the CPU because their backend cannot be had, where the program allows that; 0: everything runs where
 * the program says. *why (may be NULL) tells which backend, and the reason, of the first of them. */
MOTE_EXPORT uint32_t mote_instance_degraded(const mote_instance* instance, mote_error* why);

/* What runs an instruction of this instance: the name of a backend, or "cpu"; NULL: no such instruction. */
MOTE_EXPORT const char* mote_instance_backend(const mote_instance* instance, uint32_t instruction);

/* Runs the golden examples that the program carries, with its backends and kernels, and compares. Uses buffers of this library's, and
 * leaves state at its first value; MOTE_BUSY where an input or output is bound to the caller's. MOTE_NOT_FOUND: there are no examples.
 * MOTE_INTERNAL: an output is not what it must be; the error names the first. `result` may be NULL. */
typedef struct mote_self_test {
  size_t struct_size; /* set by the caller */
  uint32_t outputs;   /* that were compared */
  uint32_t failed;
  double largest_error; /* of all, as a part of the largest expected magnitude of its output; infinite where NaN or infinities differ */
} mote_self_test;
MOTE_EXPORT mote_status mote_instance_self_test(mote_instance* instance, mote_self_test* result, mote_error* error);

/* Sets state tensors to their first value. */
MOTE_EXPORT mote_status mote_instance_reset_state(mote_instance* instance);

#ifdef __cplusplus
}
#endif

#endif /* MOTE_API_INSTANCE_H_ */
