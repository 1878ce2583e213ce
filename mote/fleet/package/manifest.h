#pragma once

// What a package says of itself. On the medium it is canonical JSON: one text for one manifest.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace mote::fleet::package {

inline constexpr uint64_t kChunkBytes = 1 << 20;
inline constexpr size_t kMaxManifestBytes = 4 << 20;

// What a variant needs of the device that is to run it.
struct Requirements {
  std::vector<std::string> ops, dtypes, isa, backends;
  uint64_t ram_bytes = 0;  // peak
};

struct Variant {
  std::string file;  // name of a .mote file of the package
  Requirements needs;
};

// When a trial has gone well. A number of 0 is not looked at.
struct HealthGate {
  uint64_t p99_us = 0, ram_bytes = 0, soak_seconds = 0;
  uint64_t crashes = 0;       // more than so many end the trial
  bool golden = true;         // golden examples must pass
  bool confirmation = false;  // the application must call confirm()
};

struct File {
  std::string name;     // [A-Za-z0-9._-], not starting with a dot
  uint64_t offset = 0;  // in the payload
  uint64_t bytes = 0;
  std::string sha256;  // raw
};

struct Manifest {
  std::string id, version, licence, data_class, sbom_sha256;  // sbom: raw, or empty
  uint64_t security_counter = 0;
  std::string runtime_min, runtime_below;  // MAJOR.MINOR.PATCH; below may be empty
  HealthGate health;
  std::vector<Variant> variants;  // the first one that a device can run is for it
  std::vector<File> files;        // in the order of their offsets
  uint64_t payload_bytes = 0;
  std::vector<std::string> chunks;  // raw SHA-256 of each kChunkBytes of the payload
};

// Throws Error when the text is not canonical, has an unknown or missing member, or a value that makes no sense.
Manifest parse_manifest(std::string_view text);
std::string manifest_text(const Manifest& manifest, size_t likely_bytes = 0);

// -1, 0, 1. Throws Error when either is not MAJOR.MINOR.PATCH.
int compare_versions(std::string_view a, std::string_view b);

}  // namespace mote::fleet::package
