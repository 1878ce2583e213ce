/* The fleet's application interface from outside: opens the active model of a device's folder and runs it.
 *   fleet_program FOLDER ID; exit code 3 when there is no model, with the reason. */
#include <stdio.h>

#include "mote/api/mote.h"
#include "mote/fleet/app/fleet.h"

static int run(const void* bytes, size_t size, mote_error* error) {
  mote_program* program = NULL;
  mote_instance* instance = NULL;
  mote_status status = mote_program_open_memory(bytes, size, NULL, &program, error);
  if (status == MOTE_OK) status = mote_instance_create(program, NULL, &instance, error);
  if (status == MOTE_OK) status = mote_instance_self_test(instance, NULL, error);
  mote_instance_destroy(instance);
  mote_program_release(program);
  return status == MOTE_OK ? 0 : 1;
}

int main(int argc, char** argv) {
  char why[200] = "";
  size_t size = 0;
  const void* bytes;
  int failed;
  mote_fleet* model;
  mote_error* error = mote_error_create();
  if (argc != 3) return 2;
  model = mote_fleet_open(argv[1], argv[2], why, sizeof why);
  if (model == NULL) {
    fprintf(stderr, "no model: %s\n", why);
    mote_error_destroy(error);
    return 3;
  }
  bytes = mote_fleet_program(model, &size);
  failed = run(bytes, size, error);
  if (failed) fprintf(stderr, "%s\n", mote_error_message(error));
  else mote_fleet_ran(model, 1);
  printf("version %s: %s\n", mote_fleet_version(model), failed ? "failed" : "runs");
  mote_fleet_close(model);
  mote_error_destroy(error);
  return failed;
}
