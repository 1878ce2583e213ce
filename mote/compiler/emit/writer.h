#pragma once

// Turns program records into the bytes of a .mote file. Host code: the standard library is welcome, errors are texts.

#include <string>

#include "mote/compiler/program/describe.h"
#include "mote/compiler/program/records.h"
#include "mote/compiler/program/registry.h"

namespace mote::emit {

// Whoever writes programs needs these with the writer.
using program::builtin_registry;
using program::describe;
using program::FileBytes;
using program::ProgramRecords;
using program::SegmentData;
using program::StringPool;

struct WriteOptions {
  uint32_t segment_alignment = 16384;  // a page of the largest kind in use
  bool verify = true;                  // false: write what verification would refuse (tests)
  bool digests = true;                 // false: leave them zero, for programs that never become files
};

// Writes a program and verifies it with `ops`. On failure *error says why, and *out is unchanged.
bool write_program(const ProgramRecords& records, const WriteOptions& options, const OpRegistry& ops, FileBytes* out, std::string* error);

// The records of a file, as write_program would take them. False when its structure is not sound.
bool read_records(ConstBytes file, ProgramRecords* out);

// Writes bytes to a path so that a reader sees either the whole file or none. On failure *error says why.
bool save_file(const std::string& path, ConstBytes bytes, std::string* error);

}  // namespace mote::emit
