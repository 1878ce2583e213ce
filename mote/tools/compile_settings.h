#pragma once

// The options of `mote compile` that say what is made of a model. A program's evidence keeps them as words, so that validation can
// compile the same way again.

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "mote/compiler/driver/compile.h"

namespace mote::tools {

struct CompileSettings {
  std::vector<std::string> shapes, dims, banks;
  bool no_fuse = false, no_optimize = false, exact = false, no_winograd = false, strip_names = false, io_in_arena = false;
  int64_t max_trips = 0;  // 0: the front ends' own bound
  std::string strips = "auto", ram, io = "model";
  std::string target;            // a file or a name; empty: generic
  std::string audio, streaming;  // a front end (audio_settings.h); empty: none
  uint32_t alignment = 0;        // 0: pages
};

void add_compile_options(CLI::App* command, CompileSettings* s);

// Checks every text. Throws a usage Failure that says what was expected.
driver::CompileOptions options_of(const CompileSettings& s);

// So many golden examples, whatever they cost. Those of large models are made with fast kernels, where there are any.
void ask_for_examples(int count, driver::CompileOptions* options);

// The options that differ from the defaults, in a fixed order: "--dim seq=1..128 --no-fuse".
std::string words_of(const CompileSettings& s);
// And back. Throws a Failure for words this version does not know.
CompileSettings settings_of(const std::string& words);

// "65536", "64k", "1M": bytes. Throws a usage Failure.
uint64_t parse_bytes(const std::string& option, const std::string& text);

}  // namespace mote::tools
