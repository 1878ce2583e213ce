#pragma once

// A package mapped into memory: programs are used where they lie.

#include <memory>
#include <string>
#include <string_view>

#include "mote/fleet/package/package.h"

namespace mote::fleet::package {

class Mapped {
 public:
  explicit Mapped(const std::string& path);  // throws Error

  std::string_view bytes() const { return {static_cast<const char*>(data_.get()), size_}; }
  Header header() const;                                                       // parsed; throws Error
  Header verify() const;                                                       // every byte compared with the manifest; throws Error
  std::string_view file(const Header& header, const std::string& name) const;  // lives as long as this; throws Error

 private:
  std::shared_ptr<void> data_;
  size_t size_ = 0;
  std::string path_;
};

}  // namespace mote::fleet::package
