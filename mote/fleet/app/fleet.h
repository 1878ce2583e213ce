/* An application's way to its model: opens the version that the device's agent has made active, tells how it fares, and hears of another
 * one. Everything an update needs of an application is here.
 *
 *   char why[200];
 *   mote_fleet* model = mote_fleet_open("/var/lib/mote", "kws", why, sizeof why);
 *   size_t bytes;
 *   const void* program = mote_fleet_program(model, &bytes);   -> mote_program_open_memory(), mote::Model::load()
 *   ...
 *   mote_fleet_ran(model, microseconds);      after each run, or each thousandth
 *   mote_fleet_close(model);
 *
 * Threads: a handle may be used by one thread at a time, mote_fleet_ran() by any. */
#ifndef MOTE_FLEET_APP_FLEET_H_
#define MOTE_FLEET_APP_FLEET_H_

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct mote_fleet mote_fleet;

/* Opens the active model of `id` in the device's folder. Its bytes are read and hashed. A model in trial has one try less, and its golden
 * examples are run first; should they fail, the trial is over and the known-good model opens. NULL: `why` (of `why_bytes`) says why. */
mote_fleet* mote_fleet_open(const char* dir, const char* id, char* why, size_t why_bytes);

/* The program (.mote) of the variant for this machine, mapped: there until the handle is closed. */
const void* mote_fleet_program(const mote_fleet* model, size_t* out_bytes);
const char* mote_fleet_version(const mote_fleet* model);
int mote_fleet_in_trial(const mote_fleet* model); /* when it was opened */

/* A run took so long. Cheap: no file, no lock. */
void mote_fleet_ran(mote_fleet* model, uint64_t microseconds);
/* The application is content with the model. Returns 0, or -1 when it could not be written down. */
int mote_fleet_confirm(mote_fleet* model);
/* The model is no good: its trial is over. Returns 0, or -1. */
int mote_fleet_give_up(mote_fleet* model, const char* reason);

/* Writes down what was seen, judges a trial, and returns 1 when another model is active now (open it, close this one), 0 when not. */
int mote_fleet_poll(mote_fleet* model);

/* Polls from a thread of its own, every `period_ms`. When another model is active it is opened and handed to `swap`, with `context`; the
 * callback owns it, and goes on with it, watched in its turn. Ends with the handle. */
typedef void (*mote_fleet_swap_fn)(void* context, mote_fleet* next);
int mote_fleet_watch(mote_fleet* model, uint32_t period_ms, mote_fleet_swap_fn swap, void* context);

/* An orderly end. May be called in the callback for the handle that is replaced. */
void mote_fleet_close(mote_fleet* model);

#ifdef __cplusplus
}
#endif

#endif /* MOTE_FLEET_APP_FLEET_H_ */
