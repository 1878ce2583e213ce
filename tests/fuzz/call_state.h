#pragma once

// What a sequence of calls knows of the handles it holds.

#include <list>
#include <map>
#include <string>
#include <vector>

#include "mote/api/mote.h"
#include "mote/api/ops.h"
#include "tests/fuzz/call_sequence.h"
#include "tests/fuzz/exact_block.h"

namespace mote::fuzz {

// An input or output of an instance as it must be now.
struct IoState {
  mote_tensor_info info{};
  std::vector<int32_t> dims;
  bool bound = false;                     // it has a buffer that is large enough
  bool present = false, callers = false;  // the last buffer that was bound: whether it was one, and the caller's
  const void* buffer = nullptr;           // of the caller
  uint64_t buffer_bytes = 0;
};

struct InstanceState {
  mote_instance* handle = nullptr;
  size_t program = 0;  // index
  std::map<std::pair<uint32_t, uint32_t>, IoState> inputs, outputs;
  int64_t running = -1;          // method of the run that was begun
  std::list<ExactBlock> blocks;  // the caller's memory
};

struct ProgramState {
  mote_program* handle = nullptr;
  bool own = false;  // one of the programs below, whose operators never fail; otherwise a random one or what a broken file gave
};

// The handles of a sequence. Everything is given back by its destructor.
class Handles {
 public:
  Handles(Dice& choices, CallTally* counts) : dice(choices), tally(counts) {}
  Handles(const Handles&) = delete;
  Handles& operator=(const Handles&) = delete;
  ~Handles();

  // A handle that is there, or now and then null.
  InstanceState* any_instance();
  ProgramState* any_program();

  // The name of a function that is called, for the trail and the tally.
  void note(const char* function) {
    tally->functions.insert(function);
    ++tally->calls;
    trail.push_back(function);
  }
  // Keeps the first wrong answer.
  void expect(bool right, const std::string& what) {
    if (!right && wrong.empty()) wrong = what;
  }
  // The status must have one of these codes.
  void expect_code(mote_status status, std::initializer_list<mote_code> codes);

  Dice& dice;
  CallTally* tally;
  mote_error* error = nullptr;
  mote_cancel* cancel = nullptr;
  mote_registry* registry = nullptr;
  bool registry_in_use = false, registry_tried = false;  // by a program that is open; by one that may have been refused
  std::list<std::vector<uint8_t>> files;                 // bytes of programs that are open
  std::list<ExactBlock> file_blocks;
  std::vector<ProgramState> programs;
  std::list<InstanceState> instances;
  std::vector<std::string> trail;
  std::string wrong;
};

// A function to call, after its name was noted.
#define MOTE_FUZZ_CALL(h, function) ((h).note(#function), function)

// One random call of each kind.
void call_about_library(Handles& h);  // versions, names, errors, cancel flags, allocator
void call_registry(Handles& h);
void call_open(Handles& h);
void call_describe(Handles& h);
void call_create(Handles& h);
void call_io(Handles& h);
void call_run(Handles& h);
void call_release(Handles& h);

}  // namespace mote::fuzz
