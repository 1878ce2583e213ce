/* Mote's C interface: open a program, give it memory, run it.
 *
 * Stability: handles are opaque, structs begin with their own size and only grow at the end, functions are only added. A
 * program compiled against an older version of this header keeps working with a newer library of the same major version.
 * Set `struct_size` to sizeof the struct; what an older or newer caller does not know is zero, and zero is always the default.
 *
 * Ownership: `open`, `create` and `retain` give a reference that the matching `release` or `destroy` ends. Texts and tables
 * returned by a handle live as long as the handle. What the caller passes is borrowed for the call, unless the function says
 * that it is kept.
 *
 * Threads: programs and registries may be used by any number of threads at once. An instance is used by one thread at a time.
 * A mote_cancel may be requested from any thread and from a signal handler.
 *
 * Errors: functions that can fail return a mote_status, 0 for success. Those with a `mote_error* error` parameter describe the
 * failure there; it may be NULL. On failure out-parameters are untouched. Nothing throws, aborts or prints.
 *
 * NULL handles are a caller's mistake that is reported as MOTE_INVALID_ARGUMENT; releasing NULL does nothing.
 */
#ifndef MOTE_API_MOTE_H_
#define MOTE_API_MOTE_H_

#include <stddef.h>
#include <stdint.h>

#include "mote/api/backend.h"
#include "mote/api/custom_op.h"
#include "mote/api/export.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- version -------------------------------------------------------------------------------------------------------- */

#define MOTE_API_VERSION 1u /* raised when something is added */

MOTE_EXPORT uint32_t mote_api_version(void); /* of the library that runs */
MOTE_EXPORT const char* mote_version(void);  /* of the software, "0.1.0" */
/* The newest program format this library reads. */
MOTE_EXPORT void mote_format_version(uint32_t* out_major, uint32_t* out_minor);

/* ---- status --------------------------------------------------------------------------------------------------------- */

/* Bits 0-7: a mote_code. Bits 8-23: the reason, a number that `mote explain` and mote_why_text() know. */
typedef uint32_t mote_status;

typedef enum mote_code {
  MOTE_OK = 0,
  MOTE_INVALID_ARGUMENT = 1,
  MOTE_UNSUPPORTED = 2,
  MOTE_OUT_OF_MEMORY = 3,
  MOTE_CORRUPT = 4,
  MOTE_NOT_FOUND = 5,
  MOTE_VERSION = 6,
  MOTE_IO = 7,
  MOTE_SHAPE = 8,
  MOTE_DEADLINE = 9,
  MOTE_CANCELLED = 10,
  MOTE_STEP_LIMIT = 11,
  MOTE_BACKEND = 12,
  MOTE_DIGEST = 13,
  MOTE_POLICY = 14,
  MOTE_BUSY = 15,
  MOTE_INTERNAL = 16,
  MOTE_PAUSED = 17,
  MOTE_NOT_BOUND = 18
} mote_code;

MOTE_EXPORT mote_code mote_status_code(mote_status status);
MOTE_EXPORT uint32_t mote_status_why(mote_status status);
MOTE_EXPORT const char* mote_code_name(mote_code code); /* "OutOfMemory"; "Unknown" for a number that is no code */
MOTE_EXPORT const char* mote_code_text(mote_code code);
MOTE_EXPORT const char* mote_why_name(uint32_t why); /* "BankSize" */
MOTE_EXPORT const char* mote_why_text(uint32_t why);

/* What exactly failed. One thread at a time; reusable; every call that is given one overwrites it when it fails. */
typedef struct mote_error mote_error;

MOTE_EXPORT mote_error* mote_error_create(void); /* NULL when there is no memory */
MOTE_EXPORT void mote_error_destroy(mote_error* error);
MOTE_EXPORT mote_status mote_error_status(const mote_error* error);
/* A sentence: what failed, on which operator and tensor, what was expected and found. "" after nothing failed. */
MOTE_EXPORT const char* mote_error_message(const mote_error* error);
MOTE_EXPORT const char* mote_error_op(const mote_error* error);     /* "mote::softmax", or "" */
MOTE_EXPORT const char* mote_error_source(const mote_error* error); /* the node's name in the source model, or "" */
MOTE_EXPORT const char* mote_error_tensor(const mote_error* error); /* the input's or output's name, or "" */
MOTE_EXPORT int32_t mote_error_instruction(const mote_error* error); /* index, or -1 */
MOTE_EXPORT int64_t mote_error_expected(const mote_error* error);
MOTE_EXPORT int64_t mote_error_found(const mote_error* error);

/* ---- memory of this layer ------------------------------------------------------------------------------------------- */

/* Takes every allocation of this library to the caller's functions; NULL, NULL restores the platform's own. `allocate` returns
 * memory aligned to `alignment` (a power of two) or NULL; both must be safe to call from any thread. Call it while no handle
 * exists: memory goes back to the functions in force when it is released. */
typedef void* (*mote_allocate_fn)(void* context, size_t bytes, size_t alignment);
typedef void (*mote_release_fn)(void* context, void* memory);
MOTE_EXPORT mote_status mote_set_allocator(mote_allocate_fn allocate, mote_release_fn release, void* context);

/* ---- registry: custom operators and backends ------------------------------------------------------------------------ */

typedef struct mote_registry mote_registry;

MOTE_EXPORT mote_status mote_registry_create(mote_registry** out_registry);
/* Adds an operator (custom_op.h), found by programs through its symbolic name; the name of a built-in operator ("mote::relu")
 * replaces it. The struct is copied; its name, user pointer and functions must live as long as the registry and its programs.
 * MOTE_BUSY once a program uses the registry; MOTE_OUT_OF_MEMORY beyond MOTE_MAX_CUSTOM_OPS in the process. */
MOTE_EXPORT mote_status mote_registry_add_op(mote_registry* registry, const mote_custom_op* op, mote_error* error);
/* Adds a backend (backend.h). The struct itself is kept, not copied. */
MOTE_EXPORT mote_status mote_registry_add_backend(mote_registry* registry, const mote_backend* backend, mote_error* error);
/* Ends the caller's reference; programs keep their own. */
MOTE_EXPORT void mote_registry_release(mote_registry* registry);

/* ---- program -------------------------------------------------------------------------------------------------------- */

/* A verified program: immutable, shared by threads and instances. */
typedef struct mote_program mote_program;

enum {
  MOTE_OPEN_VERIFY_DIGESTS = 1, /* compare SHA-256 of every segment before anything else uses it */
  MOTE_OPEN_READ = 2,           /* read the file into memory instead of mapping it (media that may go away or change) */
  MOTE_OPEN_GOLDEN = 4          /* when reading: golden data too; it is left out otherwise */
};

typedef struct mote_open_options {
  size_t struct_size;
  uint32_t flags;
  uint32_t backend_count;
  const mote_registry* registry;    /* NULL: built-in operators, no backends */
  const char* const* backends;      /* names the program may use, besides "cpu"; NULL: any that is registered */
  const void* weights;              /* bytes of the external weights, kept borrowed, 16-byte aligned; or NULL */
  uint64_t weights_size;
  const char* weights_path;         /* or the file they are in */
  uint64_t memory_limit_bytes;      /* most this library may allocate for the program; 0: no limit */
} mote_open_options;

/* Bytes that can be read at any position: flash behind a bus, an archive, a test that fails on purpose. `read` fills all of
 * `to` and returns 0, or returns something else. */
typedef struct mote_reader {
  size_t struct_size;
  void* context;
  uint64_t size;
  int (*read)(void* context, uint64_t offset, void* to, size_t size);
} mote_reader;

/* Maps a file and verifies it. The file must not change while the program lives. `options` may be NULL. */
MOTE_EXPORT mote_status mote_program_open_file(const char* path, const mote_open_options* options, mote_program** out_program, mote_error* error);
/* Uses the caller's bytes (RAM or flash), kept borrowed until the program is gone: 16-byte aligned, unchanging. */
MOTE_EXPORT mote_status mote_program_open_memory(const void* data, size_t size, const mote_open_options* options, mote_program** out_program,
                                                 mote_error* error);
/* Reads the table, then each segment, into memory of this library. The reader is not used after the call. */
MOTE_EXPORT mote_status mote_program_open_reader(const mote_reader* reader, const mote_open_options* options, mote_program** out_program,
                                                 mote_error* error);
MOTE_EXPORT mote_program* mote_program_retain(mote_program* program); /* returns its argument */
MOTE_EXPORT void mote_program_release(mote_program* program);

/* Compares SHA-256 of every segment with the table. Reads every byte of the file. */
MOTE_EXPORT mote_status mote_program_verify_digests(const mote_program* program, mote_error* error);

/* Bytes this library allocated for the program: none for weights that are mapped or the caller's. */
MOTE_EXPORT uint64_t mote_program_allocated_bytes(const mote_program* program);
MOTE_EXPORT uint64_t mote_program_file_bytes(const mote_program* program);

/* Methods are numbered from 0; most programs have one. */
MOTE_EXPORT uint32_t mote_program_method_count(const mote_program* program);
MOTE_EXPORT const char* mote_program_method_name(const mote_program* program, uint32_t method); /* NULL: no such method */
MOTE_EXPORT mote_status mote_program_find_method(const mote_program* program, const char* name, uint32_t* out_method);

#define MOTE_MAX_RANK 8

/* Element types; the numbers are part of the program format. */
typedef enum mote_dtype {
  MOTE_F32 = 1,
  MOTE_F64 = 2,
  MOTE_F16 = 3,
  MOTE_BF16 = 4,
  MOTE_S8 = 5,
  MOTE_U8 = 6,
  MOTE_S16 = 7,
  MOTE_U16 = 8,
  MOTE_S32 = 9,
  MOTE_U32 = 10,
  MOTE_S64 = 11,
  MOTE_U64 = 12,
  MOTE_BOOL = 13,
  MOTE_S4 = 14,
  MOTE_U4 = 15
} mote_dtype;
MOTE_EXPORT const char* mote_dtype_name(mote_dtype dtype); /* "f32" */
MOTE_EXPORT uint32_t mote_dtype_bits(mote_dtype dtype);    /* 0: no element type */

typedef struct mote_tensor_info {
  size_t struct_size; /* set by the caller */
  const char* name;
  mote_dtype dtype;
  uint32_t rank;
  int32_t dims[MOTE_MAX_RANK]; /* sizes; upper bounds where dynamic */
  uint32_t dynamic;            /* bit i: dims[i] may be anything from 0 to its bound */
  uint32_t quantized;          /* 1: real value = scale * (stored - zero_point) */
  float scale;
  int32_t zero_point;
  uint64_t bytes;              /* of a dense buffer for the largest size */
  uint32_t in_bank;            /* 1: lives in a memory bank; use its data in place, it cannot be bound */
} mote_tensor_info;

MOTE_EXPORT uint32_t mote_program_input_count(const mote_program* program, uint32_t method);  /* 0 when there is no such method */
MOTE_EXPORT uint32_t mote_program_output_count(const mote_program* program, uint32_t method);
MOTE_EXPORT mote_status mote_program_input_info(const mote_program* program, uint32_t method, uint32_t index, mote_tensor_info* info);
MOTE_EXPORT mote_status mote_program_output_info(const mote_program* program, uint32_t method, uint32_t index, mote_tensor_info* info);
MOTE_EXPORT mote_status mote_program_find_input(const mote_program* program, uint32_t method, const char* name, uint32_t* out_index);
MOTE_EXPORT mote_status mote_program_find_output(const mote_program* program, uint32_t method, const char* name, uint32_t* out_index);

/* Metadata (name, labels, preprocessing …) and evidence (producer, source digest, options …): pairs of texts. */
MOTE_EXPORT uint32_t mote_program_metadata_count(const mote_program* program);
MOTE_EXPORT mote_status mote_program_metadata_at(const mote_program* program, uint32_t index, const char** out_key, const char** out_value);
MOTE_EXPORT const char* mote_program_metadata(const mote_program* program, const char* key); /* NULL: no such key */
MOTE_EXPORT uint32_t mote_program_evidence_count(const mote_program* program);
MOTE_EXPORT mote_status mote_program_evidence_at(const mote_program* program, uint32_t index, const char** out_key, const char** out_value);
MOTE_EXPORT const char* mote_program_evidence(const mote_program* program, const char* key);

/* The resource certificate: exactly what an instance needs on this machine. */
typedef struct mote_certificate {
  size_t struct_size; /* set by the caller */
  uint64_t macs;
  uint64_t bytes_moved;
  uint64_t constant_bytes;
  uint64_t instance_bytes; /* 8-byte aligned */
  uint64_t scratch_bytes;  /* for one thread, 16-byte aligned */
  uint64_t arena_bytes;    /* all banks together */
  uint32_t bank_count;
  uint32_t steps_bound;    /* most instructions one run executes */
  uint64_t scratch_per_thread_bytes; /* of scratch_bytes: what each thread adds */
} mote_certificate;
MOTE_EXPORT mote_status mote_program_certificate(const mote_program* program, mote_certificate* certificate);
MOTE_EXPORT mote_status mote_program_bank(const mote_program* program, uint32_t index, const char** out_name, uint64_t* out_bytes,
                                          uint32_t* out_alignment);

/* An instruction, by the number that errors and traces give. Either text may be "". */
MOTE_EXPORT uint32_t mote_program_instruction_count(const mote_program* program);
MOTE_EXPORT mote_status mote_program_instruction(const mote_program* program, uint32_t index, const char** out_op, const char** out_source);

/* Golden data: inputs with the outputs they must give. Records with the same method and example belong together. */
typedef struct mote_golden {
  size_t struct_size; /* set by the caller */
  uint32_t method;
  uint32_t example;
  uint32_t index;     /* of the input or output */
  uint32_t is_output;
  float tolerance;    /* of the largest expected magnitude; 0: the same bits */
  int32_t dims[MOTE_MAX_RANK];
  const void* data;   /* dense */
  uint64_t bytes;
} mote_golden;
MOTE_EXPORT uint32_t mote_program_golden_count(const mote_program* program);
/* MOTE_NOT_FOUND also when the golden data was not loaded. */
MOTE_EXPORT mote_status mote_program_golden(const mote_program* program, uint32_t index, mote_golden* golden);

/* ---- instance ------------------------------------------------------------------------------------------------------- */

/* A program with memory to run in. One thread at a time. Keeps its program alive. */
typedef struct mote_instance mote_instance;

/* Memory the caller owns, sized by the certificate and kept until the instance is destroyed. */
typedef struct mote_memory {
  void* data;
  uint64_t bytes;
} mote_memory;

typedef enum mote_trace_kind {
  MOTE_TRACE_LOAD = 0,
  MOTE_TRACE_INIT = 1,
  MOTE_TRACE_RUN_BEGIN = 2,
  MOTE_TRACE_RUN_END = 3,
  MOTE_TRACE_INSTRUCTION_BEGIN = 4,
  MOTE_TRACE_INSTRUCTION_END = 5
} mote_trace_kind;
typedef void (*mote_trace_fn)(void* context, mote_trace_kind kind, uint32_t method, uint32_t instruction);

typedef struct mote_instance_options {
  size_t struct_size;
  uint64_t memory_limit_bytes;    /* most this library may allocate for the instance; 0: no limit */
  const mote_memory* instance;    /* NULL: this library allocates it; likewise below */
  const mote_memory* scratch;
  const mote_memory* banks;       /* bank_count of them */
  uint32_t bank_count;
  uint32_t reserved;
  mote_trace_fn trace;            /* NULL: nothing is traced, nothing is spent */
  void* trace_context;
} mote_instance_options;

MOTE_EXPORT mote_status mote_instance_create(mote_program* program, const mote_instance_options* options, mote_instance** out_instance,
                                             mote_error* error);
MOTE_EXPORT void mote_instance_destroy(mote_instance* instance);
MOTE_EXPORT uint64_t mote_instance_allocated_bytes(const mote_instance* instance);

/* Uses the caller's buffer, without a copy, until it is bound anew or the instance is destroyed. It holds the tensor densely
 * (unless the program says otherwise), aligned to its element type. An output needs room for the largest size, an input for
 * the size set by mote_instance_set_input_dims(). */
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
/* Sets the sizes of an input with dynamic dimensions. Fixed ones must be what they are. */
MOTE_EXPORT mote_status mote_instance_set_input_dims(mote_instance* instance, uint32_t method, uint32_t index, const int32_t* dims, uint32_t rank,
                                                     mote_error* error);
/* The sizes now: of an output after a run, what the run gave. `dims` has room for MOTE_MAX_RANK. */
MOTE_EXPORT mote_status mote_instance_input_dims(const mote_instance* instance, uint32_t method, uint32_t index, int32_t* dims, uint32_t* out_rank);
MOTE_EXPORT mote_status mote_instance_output_dims(const mote_instance* instance, uint32_t method, uint32_t index, int32_t* dims, uint32_t* out_rank);
/* The buffer in use, in place; NULL while there is none. */
MOTE_EXPORT void* mote_instance_input_data(mote_instance* instance, uint32_t method, uint32_t index);
MOTE_EXPORT const void* mote_instance_output_data(const mote_instance* instance, uint32_t method, uint32_t index);

/* ---- run ------------------------------------------------------------------------------------------------------------ */

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

/* Runs a method to its end. Allocates nothing, takes no lock, makes no system call beyond what backends, custom operators and
 * the trace hook do (and reading the clock, with a deadline). After an error the instance can be run again; outputs and state
 * are then undefined until reset_state and the next run. `options` may be NULL. */
MOTE_EXPORT mote_status mote_instance_run(mote_instance* instance, uint32_t method, const mote_run_options* options, mote_error* error);

/* Step by step: begin, then step until it returns something other than MOTE_PAUSED. */
MOTE_EXPORT mote_status mote_instance_begin(mote_instance* instance, uint32_t method, mote_error* error);
MOTE_EXPORT mote_status mote_instance_step(mote_instance* instance, uint32_t instructions, const mote_run_options* options, mote_error* error);
MOTE_EXPORT uint32_t mote_instance_position(const mote_instance* instance); /* the instruction that runs next */

/* Sets state tensors to their first value. */
MOTE_EXPORT mote_status mote_instance_reset_state(mote_instance* instance);

#ifdef __cplusplus
}
#endif

#endif /* MOTE_API_MOTE_H_ */
