#pragma once

// Message digests over OpenSSL.

#include <memory>
#include <string>
#include <string_view>

struct evp_md_ctx_st;

namespace mote::fleet {

// Throws Error for an algorithm that is not sha256, sha384 or sha512.
class Digest {
 public:
  explicit Digest(std::string_view algorithm = "sha256");
  void add(std::string_view bytes);
  std::string finish();  // raw bytes; once

 private:
  struct Free {
    void operator()(evp_md_ctx_st* context) const;
  };
  std::unique_ptr<evp_md_ctx_st, Free> context_;
};

std::string digest(std::string_view bytes, std::string_view algorithm = "sha256");  // raw bytes
inline constexpr size_t kSha256Bytes = 32;

}  // namespace mote::fleet
