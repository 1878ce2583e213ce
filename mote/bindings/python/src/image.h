#pragma once

// A verified program file: mapped, in the caller's bytes, or just compiled. Immutable; shared by programs.

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "mote/bindings/python/src/failure.h"

namespace mote::python {

struct OpenOptions {
  std::string weights;  // path of external weights
  bool verify_digests = false;
  uint64_t memory_limit = 0;
  std::vector<std::string> backends;  // that are loaded for it, besides "cpu"
  std::vector<std::string> require;   // every operator must have been placed on one of these; empty: anywhere
  bool fallback = true;               // the CPU may run a part whose backend cannot be had, where the program has it
};

struct Image {
  std::string path;                   // where it was loaded from, or ""
  std::shared_ptr<const void> owner;  // of `data`, where it is in memory
  const uint8_t* data = nullptr;
  size_t size = 0;
  ProgramHandle program;
};

std::shared_ptr<const Image> open_path(const std::string& path, const OpenOptions& options);
// Borrows immutable aligned buffers, copies others.
std::shared_ptr<const Image> open_buffer(nb::object buffer, const OpenOptions& options);
std::shared_ptr<const Image> open_owned(std::shared_ptr<const void> owner, const uint8_t* data, size_t size, const OpenOptions& options);

}  // namespace mote::python
