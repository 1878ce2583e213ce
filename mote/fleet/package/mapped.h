#pragma once

// A package mapped into memory: programs are used where they lie.

#include <memory>
#include <string>
#include <string_view>

#include "mote/fleet/package/package.h"

namespace mote::fleet::package {

class Mapped {
 public:
  Mapped(Mapping mapping, std::string path) : mapping_(std::move(mapping)), path_(std::move(path)) {}  // `path`: for messages

  std::string_view bytes() const { return mapping_.bytes; }
  Header header() const;                                                       // parsed; throws Error
  Header verify() const;                                                       // every byte compared with the manifest; throws Error
  std::string_view file(const Header& header, const std::string& name) const;  // lives as long as this; throws Error

 private:
  Mapping mapping_;
  std::string path_;
};

}  // namespace mote::fleet::package
