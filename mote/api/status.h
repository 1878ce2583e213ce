/* Versions, status codes, errors, and the memory of this layer. mote.h has the rules that hold for all of it. */
#ifndef MOTE_API_STATUS_H_
#define MOTE_API_STATUS_H_

#include <stddef.h>
#include <stdint.h>

#include "mote/api/export.h"

#ifdef __cplusplus
extern "C" {
#endif

#define MOTE_API_VERSION 2u /* raised when something is added */

MOTE_EXPORT uint32_t mote_api_version(void); /* of the library that runs */
MOTE_EXPORT const char* mote_version(void);  /* of the software, "0.1.0" */
/* The newest program format this library reads. */
MOTE_EXPORT void mote_format_version(uint32_t* out_major, uint32_t* out_minor);

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
  MOTE_NOT_BOUND = 18,
  MOTE_CODE_WIDTH = 0x7fffffff /* no code: the type is 32 bits wide everywhere, and any number up to this may be asked about */
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
MOTE_EXPORT const char* mote_error_op(const mote_error* error);      /* "mote::softmax", or "" */
MOTE_EXPORT const char* mote_error_source(const mote_error* error);  /* the node's name in the source model, or "" */
MOTE_EXPORT const char* mote_error_tensor(const mote_error* error);  /* the input's or output's name, or "" */
MOTE_EXPORT int32_t mote_error_instruction(const mote_error* error); /* index, or -1 */
MOTE_EXPORT int64_t mote_error_expected(const mote_error* error);
MOTE_EXPORT int64_t mote_error_found(const mote_error* error);

/* Takes every allocation of this library to the caller's functions; NULL, NULL restores the platform's own. `allocate` returns
 * memory aligned to `alignment` (a power of two) or NULL; both must be safe to call from any thread. Call it while no handle
 * exists: memory goes back to the functions in force when it is released. */
typedef void* (*mote_allocate_fn)(void* context, size_t bytes, size_t alignment);
typedef void (*mote_release_fn)(void* context, void* memory);
MOTE_EXPORT mote_status mote_set_allocator(mote_allocate_fn allocate, mote_release_fn release, void* context);

#ifdef __cplusplus
}
#endif

#endif /* MOTE_API_STATUS_H_ */
