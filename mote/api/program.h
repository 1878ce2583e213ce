/* Programs: opening and describing them; the operators and backends they may use. mote.h has the rules that hold for all of it. */
#ifndef MOTE_API_PROGRAM_H_
#define MOTE_API_PROGRAM_H_

#include "mote/api/backend.h"
#include "mote/api/custom_op.h"
#include "mote/api/status.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct mote_registry mote_registry;

MOTE_EXPORT mote_status mote_registry_create(mote_registry** out_registry);
/* Adds an operator (custom_op.h), found by programs through its symbolic name; the name of a built-in operator ("mote::relu")
 * replaces it. The struct is copied; its name, user pointer and functions must live as long as the registry and its programs.
 * MOTE_BUSY once a program uses the registry; MOTE_OUT_OF_MEMORY beyond MOTE_MAX_CUSTOM_OPS in the process. */
MOTE_EXPORT mote_status mote_registry_add_op(mote_registry* registry, const mote_custom_op* op, mote_error* error);
/* Adds a backend (backend.h). The struct itself is kept, not copied. */
MOTE_EXPORT mote_status mote_registry_add_backend(mote_registry* registry, const mote_backend* backend, mote_error* error);
/* Loads a backend that lives in a library of its own (backend_plugin.h), and adds what that library has. `name` is one of
 *   "opencl"             libmote_opencl in the folder of libmote (or of the program that libmote is linked into), or linked into libmote;
 *                        "opencl_f16" comes from there too
 *   "/absolute/path.so"  that file
 * and nothing else: no search path, no current folder, no environment. The library's code runs with the process's rights, and stays until
 * the process ends. MOTE_NOT_FOUND: there is no such file; MOTE_BACKEND: the system cannot load it; MOTE_VERSION: it is no plug-in, or one
 * for another Mote. Whether a device is there shows when an instance is created. Loading again what is loaded does nothing. */
MOTE_EXPORT mote_status mote_registry_load_backend(mote_registry* registry, const char* name, mote_error* error);

/* What a registry has, in the order it came in. */
typedef struct mote_backend_info {
  size_t struct_size; /* set by the caller */
  const char* name;
  const char* version;
  const char* device; /* and its driver; "" while there is none */
  uint32_t units;     /* of the device that compute at once; 0: not known */
  uint32_t reserved;
} mote_backend_info;
MOTE_EXPORT uint32_t mote_registry_backend_count(const mote_registry* registry);
/* Asks the backend for its device, which may take a driver's time to start. */
MOTE_EXPORT mote_status mote_registry_backend(const mote_registry* registry, uint32_t index, mote_backend_info* info);
/* Ends the caller's reference; programs keep their own. */
MOTE_EXPORT void mote_registry_release(mote_registry* registry);

/* A verified program: immutable, shared by threads and instances. */
typedef struct mote_program mote_program;

enum {
  MOTE_OPEN_VERIFY_DIGESTS = 1, /* compare SHA-256 of every segment before the program can be used */
  MOTE_OPEN_READ = 2,           /* read the file into memory instead of mapping it (media that may go away or change) */
  MOTE_OPEN_GOLDEN = 4,         /* when reading: golden data too; it is left out otherwise */
  MOTE_OPEN_NO_FALLBACK = 8,    /* a part whose backend cannot be had is an error, also where the program has the part for the CPU too */
  MOTE_OPEN_ONE_INSTANCE = 16   /* only one instance will be made (a second is MOTE_BUSY), so that memory of this library which holds what
                                 * a backend has copied is given back. What is mapped is given back to the system in any case. */
};

/* What a trace hook is told. Times are the hook's to take: mote_clock_ns(). */
typedef enum mote_trace_kind {
  MOTE_TRACE_LOAD = 0,
  MOTE_TRACE_INIT = 1,
  MOTE_TRACE_RUN_BEGIN = 2,
  MOTE_TRACE_RUN_END = 3,
  MOTE_TRACE_INSTRUCTION_BEGIN = 4,
  MOTE_TRACE_INSTRUCTION_END = 5,
  MOTE_TRACE_DEGRADED = 6,      /* while an instance is created: the backend of this instruction cannot be had, its fallback will run */
  MOTE_TRACE_WIDTH = 0x7fffffff /* no event, see MOTE_CODE_WIDTH */
} mote_trace_kind;
typedef void (*mote_trace_fn)(void* context, mote_trace_kind kind, uint32_t method, uint32_t instruction);

typedef struct mote_open_options {
  size_t struct_size;
  uint32_t flags;
  uint32_t backend_count;
  const mote_registry* registry; /* NULL: built-in operators, no backends */
  const char* const* backends;   /* names the program may use, besides "cpu"; NULL: any that is registered */
  const void* weights;           /* bytes of the external weights, kept borrowed, 16-byte aligned; or NULL */
  uint64_t weights_size;
  const char* weights_path;    /* or the file they are in */
  uint64_t memory_limit_bytes; /* most this library may allocate for the program; 0: no limit */
  mote_trace_fn trace;         /* told MOTE_TRACE_LOAD once the program is verified; NULL: nothing */
  void* trace_context;
  const char* const*
      require; /* every operator must have been placed on one of these; "cpu" is one, too. NULL: anywhere. MOTE_POLICY else */
  uint32_t require_count;
  uint32_t reserved;
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
MOTE_EXPORT mote_status mote_program_open_file(const char* path, const mote_open_options* options, mote_program** out_program,
                                               mote_error* error);
/* Uses the caller's bytes (RAM or flash), kept borrowed until the program is gone: 16-byte aligned, unchanging. */
MOTE_EXPORT mote_status mote_program_open_memory(const void* data, size_t size, const mote_open_options* options,
                                                 mote_program** out_program, mote_error* error);
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
  MOTE_U4 = 15,
  MOTE_DTYPE_WIDTH = 0x7fffffff /* no type, see MOTE_CODE_WIDTH */
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
  uint64_t bytes;   /* of a dense buffer for the largest size */
  uint32_t in_bank; /* 1: lives in a memory bank; use its data in place, it cannot be bound */
} mote_tensor_info;

MOTE_EXPORT uint32_t mote_program_input_count(const mote_program* program, uint32_t method); /* 0 when there is no such method */
MOTE_EXPORT uint32_t mote_program_output_count(const mote_program* program, uint32_t method);
MOTE_EXPORT mote_status mote_program_input_info(const mote_program* program, uint32_t method, uint32_t index, mote_tensor_info* info);
MOTE_EXPORT mote_status mote_program_output_info(const mote_program* program, uint32_t method, uint32_t index, mote_tensor_info* info);
/* By name; also by the name that the tensor has in the model's file, where that is another (TFLite: `inspect` shows both). */
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
  uint32_t steps_bound;              /* most instructions one run executes */
  uint64_t scratch_per_thread_bytes; /* of scratch_bytes: what each thread adds */
} mote_certificate;
MOTE_EXPORT mote_status mote_program_certificate(const mote_program* program, mote_certificate* certificate);
MOTE_EXPORT mote_status mote_program_bank(const mote_program* program, uint32_t index, const char** out_name, uint64_t* out_bytes,
                                          uint32_t* out_alignment);

/* An instruction, by the number that errors and traces give. Either text may be "". */
MOTE_EXPORT uint32_t mote_program_instruction_count(const mote_program* program);
MOTE_EXPORT mote_status mote_program_instruction(const mote_program* program, uint32_t index, const char** out_op, const char** out_source);

/* Where the program's operators run, as it was decided when it was compiled: parts in the order of the instructions. A backend's part is
 * one instruction, with what runs in its place behind it where the program has that. */
typedef struct mote_part {
  size_t struct_size;  /* set by the caller */
  const char* backend; /* "cpu" for Mote's own kernels */
  uint32_t first_instruction;
  uint32_t instruction_count;
  uint32_t fallback_count; /* instructions behind them, for the CPU, that run when the backend cannot be had; 0: there are none */
  uint32_t reserved;
  uint64_t bytes_in, bytes_out; /* transfers in one run; 0: not known */
  uint64_t device_bytes;
  double predicted_us; /* 0: not predicted */
} mote_part;
MOTE_EXPORT uint32_t mote_program_part_count(const mote_program* program);
MOTE_EXPORT mote_status mote_program_part(const mote_program* program, uint32_t index, mote_part* part);
/* The policy it was placed under, as TOML; "" where there was none. */
MOTE_EXPORT const char* mote_program_policy(const mote_program* program);

/* Golden data: inputs with the outputs they must give. Records with the same method and example belong together. */
typedef struct mote_golden {
  size_t struct_size; /* set by the caller */
  uint32_t method;
  uint32_t example;
  uint32_t index; /* of the input or output */
  uint32_t is_output;
  float tolerance; /* of the largest expected magnitude; 0: the same bits */
  int32_t dims[MOTE_MAX_RANK];
  const void* data; /* dense */
  uint64_t bytes;
} mote_golden;
MOTE_EXPORT uint32_t mote_program_golden_count(const mote_program* program);
/* MOTE_NOT_FOUND also when the golden data was not loaded. */
MOTE_EXPORT mote_status mote_program_golden(const mote_program* program, uint32_t index, mote_golden* golden);

#ifdef __cplusplus
}
#endif

#endif /* MOTE_API_PROGRAM_H_ */
