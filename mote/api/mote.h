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

#include "mote/api/instance.h"
#include "mote/api/program.h"
#include "mote/api/status.h"

#endif /* MOTE_API_MOTE_H_ */
