/* A backend that lives in a library of its own and is loaded at run time: mote_registry_load_backend(), mote --plugin LIB,
 * MOTE_PLUGINS=LIB:LIB. The library exports one function, mote_backend_plugin_entry, that returns a static struct; one library may have
 * several backends. Its halves are those of backend.h and backend_compiler.h. `abi` is the first member of every struct; where it differs
 * nothing else of the struct is read and the library is refused, with both numbers. A loaded library stays loaded until the process ends.
 */
#ifndef MOTE_API_BACKEND_PLUGIN_H_
#define MOTE_API_BACKEND_PLUGIN_H_

#include "mote/api/backend.h"
#include "mote/api/backend_compiler.h"

#ifdef __cplusplus
extern "C" {
#endif

#define MOTE_BACKEND_PLUGIN_ABI 2u /* 1, without `next`, is still read */
#define MOTE_BACKEND_PLUGIN_ENTRY "mote_backend_plugin_entry"

typedef struct mote_backend_plugin {
  uint32_t abi; /* MOTE_BACKEND_PLUGIN_ABI */
  const mote_backend* device;
  const mote_backend_compiler* compiler;  /* NULL: programs run there, but none can be compiled for it here */
  const struct mote_backend_plugin* next; /* another backend of the same library, or NULL */
} mote_backend_plugin;

typedef const mote_backend_plugin* (*mote_backend_plugin_fn)(void);

#ifdef __cplusplus
}
#endif

#endif /* MOTE_API_BACKEND_PLUGIN_H_ */
