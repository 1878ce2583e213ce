/* Runs a program on a backend under a policy, from outside of Mote:
 *   backend_program PROGRAM BACKEND [require] [no-fallback]
 * prints where the program runs and whether its golden examples come out; exit code 3 when it is refused, with the reason. */
#include <stdio.h>
#include <string.h>

#include "mote/api/mote.h"

static int fail(const char* what, mote_error* error, int code) {
  fprintf(stderr, "%s: %s\n", what, mote_error_message(error));
  return code;
}

static void print_parts(const mote_program* program, const mote_instance* instance) {
  uint32_t i;
  for (i = 0; i < mote_program_part_count(program); ++i) {
    mote_part part;
    memset(&part, 0, sizeof part);
    part.struct_size = sizeof part;
    if (mote_program_part(program, i, &part) != MOTE_OK) return;
    printf("part %u: compiled for %s, runs on %s\n", (unsigned)i, part.backend, mote_instance_backend(instance, part.first_instruction));
  }
}

static int test(mote_instance* instance, mote_error* error) {
  mote_self_test result;
  memset(&result, 0, sizeof result);
  result.struct_size = sizeof result;
  if (mote_instance_self_test(instance, &result, error) != MOTE_OK) return fail("self-test", error, 1);
  printf("self-test: %u outputs, %u wrong\n", (unsigned)result.outputs, (unsigned)result.failed);
  return 0;
}

static int run(const char* path, const mote_open_options* options, mote_error* error) {
  mote_program* program = NULL;
  mote_instance* instance = NULL;
  uint32_t degraded;
  int code = 0;
  if (mote_program_open_file(path, options, &program, error) != MOTE_OK) return fail("refused", error, 3);
  if (mote_instance_create(program, NULL, &instance, error) != MOTE_OK) {
    code = fail("refused", error, 3);
  } else {
    print_parts(program, instance);
    degraded = mote_instance_degraded(instance, error);
    printf("degraded: %s\n", degraded != 0 ? "yes" : "no");
    if (degraded != 0) (void)fail("degraded", error, 0);
    code = test(instance, error);
  }
  mote_instance_destroy(instance);
  mote_program_release(program);
  return code;
}

int main(int argc, char** argv) {
  mote_registry* registry = NULL;
  mote_error* error = mote_error_create();
  mote_open_options options;
  const char* names[1];
  int i, code;
  if (argc < 3 || mote_registry_create(&registry) != MOTE_OK) return 2;
  memset(&options, 0, sizeof options);
  options.struct_size = sizeof options;
  options.registry = registry;
  names[0] = argv[2];
  options.backends = names;
  options.backend_count = 1;
  for (i = 3; i < argc; ++i) {
    if (strcmp(argv[i], "require") == 0) options.require = names, options.require_count = 1;
    if (strcmp(argv[i], "no-fallback") == 0) options.flags |= MOTE_OPEN_NO_FALLBACK;
  }
  if (mote_registry_load_backend(registry, argv[2], error) != MOTE_OK) code = fail("no backend", error, 4);
  else code = run(argv[1], &options, error);
  mote_registry_release(registry);
  mote_error_destroy(error);
  return code;
}
