/* Opens the program given, runs it on zeros, prints the first output's first value. */
#include <stdio.h>
#include <stdlib.h>

#include "mote/api/mote.h"

static int fail(mote_error* error) {
  fprintf(stderr, "%s\n", mote_error_message(error));
  return 1;
}

int main(int argc, char** argv) {
  mote_program* program = NULL;
  mote_instance* instance = NULL;
  mote_error* error = mote_error_create();
  mote_tensor_info info = {0};
  uint64_t bytes = 0;
  unsigned char* output;
  uint32_t i;
  if (argc != 2 || mote_api_version() < MOTE_API_VERSION) return 2;
  if (mote_program_open_file(argv[1], NULL, &program, error) != MOTE_OK) return fail(error);
  if (mote_instance_create(program, NULL, &instance, error) != MOTE_OK) return fail(error);
  if (mote_instance_own_io(instance, 0, error) != MOTE_OK) return fail(error);
  info.struct_size = sizeof info;
  for (i = 0; i < mote_program_input_count(program, 0); ++i) {
    void* zeros;
    if (mote_program_input_info(program, 0, i, &info) != MOTE_OK) return 1;
    zeros = calloc(1, (size_t)info.bytes);
    if (mote_instance_set_input(instance, 0, i, zeros, info.bytes, error) != MOTE_OK) return fail(error);
    free(zeros);
  }
  if (mote_instance_run(instance, 0, NULL, error) != MOTE_OK) return fail(error);
  if (mote_program_output_info(program, 0, 0, &info) != MOTE_OK) return 1;
  output = malloc((size_t)info.bytes);
  if (mote_instance_get_output(instance, 0, 0, output, info.bytes, &bytes, error) != MOTE_OK) return fail(error);
  printf("%s %s %llu bytes\n", info.name, mote_dtype_name(info.dtype), (unsigned long long)bytes);
  free(output);
  mote_instance_destroy(instance);
  mote_program_release(program);
  mote_error_destroy(error);
  return 0;
}
