#include "mote/fleet/base/digest.h"

#include <openssl/evp.h>

#include "mote/fleet/base/error.h"

namespace mote::fleet {

void Digest::Free::operator()(evp_md_ctx_st* context) const { EVP_MD_CTX_free(context); }

Digest::Digest(std::string_view algorithm) : context_(EVP_MD_CTX_new()) {
  const EVP_MD* type = algorithm == "sha256"   ? EVP_sha256()
                       : algorithm == "sha384" ? EVP_sha384()
                       : algorithm == "sha512" ? EVP_sha512()
                                               : nullptr;
  if (!type) throw Error("digest '" + std::string(algorithm) + "' is not one of sha256, sha384, sha512");
  if (!context_ || EVP_DigestInit_ex(context_.get(), type, nullptr) != 1) throw Error("OpenSSL cannot make a digest");
}

void Digest::add(std::string_view bytes) {
  if (EVP_DigestUpdate(context_.get(), bytes.data(), bytes.size()) != 1) throw Error("OpenSSL cannot make a digest");
}

std::string Digest::finish() {
  unsigned char out[EVP_MAX_MD_SIZE];
  unsigned size = 0;
  if (EVP_DigestFinal_ex(context_.get(), out, &size) != 1) throw Error("OpenSSL cannot make a digest");
  return std::string(reinterpret_cast<const char*>(out), size);
}

std::string digest(std::string_view bytes, std::string_view algorithm) {
  Digest d(algorithm);
  d.add(bytes);
  return d.finish();
}

}  // namespace mote::fleet
