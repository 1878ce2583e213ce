#include "mote/fleet/base/key.h"

#include <openssl/core_names.h>
#include <openssl/ec.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/rsa.h>
#include <openssl/x509.h>

#include "mote/fleet/base/error.h"
#include "mote/fleet/base/text.h"

namespace mote::fleet {
namespace {

struct Scheme {
  const char* name;
  int type;  // EVP_PKEY_*
  const EVP_MD* (*digest)();
  int padding;        // RSA
  const char* curve;  // ECDSA
};

constexpr Scheme kSchemes[] = {
    {"ed25519", EVP_PKEY_ED25519, nullptr, 0, nullptr},
    {"ecdsa-sha2-nistp256", EVP_PKEY_EC, EVP_sha256, 0, "prime256v1"},
    {"ecdsa-sha2-nistp384", EVP_PKEY_EC, EVP_sha384, 0, "secp384r1"},
    {"rsassa-pss-sha256", EVP_PKEY_RSA, EVP_sha256, RSA_PKCS1_PSS_PADDING, nullptr},
    {"rsassa-pss-sha384", EVP_PKEY_RSA, EVP_sha384, RSA_PKCS1_PSS_PADDING, nullptr},
    {"rsassa-pss-sha512", EVP_PKEY_RSA, EVP_sha512, RSA_PKCS1_PSS_PADDING, nullptr},
    {"rsa-pkcs1v15-sha256", EVP_PKEY_RSA, EVP_sha256, RSA_PKCS1_PADDING, nullptr},
    {"rsa-pkcs1v15-sha384", EVP_PKEY_RSA, EVP_sha384, RSA_PKCS1_PADDING, nullptr},
    {"rsa-pkcs1v15-sha512", EVP_PKEY_RSA, EVP_sha512, RSA_PKCS1_PADDING, nullptr},
};
constexpr int kMinRsaBits = 2048, kMaxRsaBits = 16384;

const Scheme& find_scheme(std::string_view name) {
  for (const Scheme& s : kSchemes) {
    if (name == s.name) return s;
  }
  throw Error("signature scheme '" + std::string(name) + "' is not known");
}

struct BioFree {
  void operator()(BIO* bio) const { BIO_free(bio); }
};
using BioHandle = std::unique_ptr<BIO, BioFree>;
struct ContextFree {
  void operator()(EVP_MD_CTX* c) const { EVP_MD_CTX_free(c); }
  void operator()(EVP_PKEY_CTX* c) const { EVP_PKEY_CTX_free(c); }
};

const unsigned char* bytes_of(std::string_view s) { return reinterpret_cast<const unsigned char*>(s.data()); }
KeyHandle own(EVP_PKEY* key) { return KeyHandle(key, KeyFree()); }
BioHandle memory_of(std::string_view text) { return BioHandle(BIO_new_mem_buf(text.data(), static_cast<int>(text.size()))); }
// Nobody is at a terminal: an encrypted key is an error.
int no_password(char*, int, int, void*) { return -1; }

std::string text_of(BIO* bio) {
  char* data = nullptr;
  const long size = BIO_get_mem_data(bio, &data);
  return std::string(data, static_cast<size_t>(size));
}

KeyHandle point_key(const char* curve, std::string_view point) {
  EVP_PKEY* key = nullptr;
  const std::unique_ptr<EVP_PKEY_CTX, ContextFree> context(EVP_PKEY_CTX_new_from_name(nullptr, "EC", nullptr));
  std::string group = curve, octets(point);
  OSSL_PARAM params[] = {OSSL_PARAM_utf8_string(OSSL_PKEY_PARAM_GROUP_NAME, group.data(), group.size()),
                         OSSL_PARAM_octet_string(OSSL_PKEY_PARAM_PUB_KEY, octets.data(), octets.size()), OSSL_PARAM_END};
  if (!context || EVP_PKEY_fromdata_init(context.get()) != 1 || EVP_PKEY_fromdata(context.get(), &key, EVP_PKEY_PUBLIC_KEY, params) != 1)
    return nullptr;
  return own(key);
}

KeyHandle read_public(const Scheme& scheme, std::string_view text) {
  constexpr size_t kMaxKeyText = 16384;
  if (text.size() > kMaxKeyText) return nullptr;
  if (text.find("-----BEGIN") != std::string_view::npos) {
    const BioHandle bio = memory_of(text);
    EVP_PKEY* key = PEM_read_bio_PUBKEY(bio.get(), nullptr, no_password, nullptr);
    return key ? own(key) : nullptr;
  }
  const std::optional<std::string> raw = from_hex(text);
  if (!raw) return nullptr;
  if (scheme.type == EVP_PKEY_EC) return point_key(scheme.curve, *raw);
  if (scheme.type != EVP_PKEY_ED25519) return nullptr;
  EVP_PKEY* key = EVP_PKEY_new_raw_public_key(EVP_PKEY_ED25519, nullptr, bytes_of(*raw), raw->size());
  return key ? own(key) : nullptr;
}

// Both directions set a context up the same way.
template <class Init>
bool prepare(const Scheme& scheme, EVP_MD_CTX* context, EVP_PKEY* key, int salt_bytes, Init init) {
  EVP_PKEY_CTX* options = nullptr;
  if (init(context, &options, scheme.digest ? scheme.digest() : nullptr, nullptr, key) != 1) return false;
  if (scheme.padding == 0) return true;
  if (EVP_PKEY_CTX_set_rsa_padding(options, scheme.padding) != 1) return false;
  return scheme.padding != RSA_PKCS1_PSS_PADDING || EVP_PKEY_CTX_set_rsa_pss_saltlen(options, salt_bytes) == 1;
}

}  // namespace

void KeyFree::operator()(evp_pkey_st* key) const { EVP_PKEY_free(key); }

PublicKey::PublicKey(std::string_view scheme, std::string_view text) : PublicKey(scheme, read_public(find_scheme(scheme), text)) {}

PublicKey::PublicKey(std::string_view scheme, KeyHandle key) : scheme_(scheme), key_(std::move(key)) {
  ERR_clear_error();
  check();
  // One text for one key: a point may be written compressed, whole or both, and a curve by name or by its numbers.
  if (EVP_PKEY_get_base_id(key_.get()) == EVP_PKEY_EC &&
      (EVP_PKEY_set_utf8_string_param(key_.get(), OSSL_PKEY_PARAM_EC_POINT_CONVERSION_FORMAT, "uncompressed") != 1 ||
       EVP_PKEY_set_utf8_string_param(key_.get(), OSSL_PKEY_PARAM_EC_ENCODING, OSSL_PKEY_EC_ENCODING_GROUP) != 1))
    throw Error("OpenSSL cannot write the public key");
  unsigned char* out = nullptr;
  const int size = i2d_PUBKEY(key_.get(), &out);
  if (size > 0) der_.assign(reinterpret_cast<const char*>(out), static_cast<size_t>(size));
  OPENSSL_free(out);
  if (size <= 0) throw Error("OpenSSL cannot write the public key");
}

void PublicKey::check() const {
  const Scheme& scheme = find_scheme(scheme_);
  if (!key_ || EVP_PKEY_get_base_id(key_.get()) != scheme.type) throw Error("not a public key for " + scheme_);
  if (scheme.curve) {
    char name[64] = "";
    size_t size = 0;
    if (EVP_PKEY_get_group_name(key_.get(), name, sizeof name, &size) != 1 || std::string_view(name) != scheme.curve)
      throw Error("the key for " + scheme_ + " lies on curve '" + name + "', not " + scheme.curve);
  }
  const int bits = EVP_PKEY_get_bits(key_.get());
  if (scheme.type == EVP_PKEY_RSA && (bits < kMinRsaBits || bits > kMaxRsaBits))
    throw Error("an RSA key of " + std::to_string(bits) + " bits; 2048 to 16384 are accepted");
}

bool PublicKey::verifies(std::string_view message, std::string_view signature) const {
  const Scheme& scheme = find_scheme(scheme_);
  const std::unique_ptr<EVP_MD_CTX, ContextFree> context(EVP_MD_CTX_new());
  const bool good = context && prepare(scheme, context.get(), key_.get(), RSA_PSS_SALTLEN_AUTO, EVP_DigestVerifyInit) &&
                    EVP_DigestVerify(context.get(), bytes_of(signature), signature.size(), bytes_of(message), message.size()) == 1;
  ERR_clear_error();
  return good;
}

PrivateKey PrivateKey::generate(std::string_view scheme) {
  const Scheme& s = find_scheme(scheme);
  EVP_PKEY* key = s.type == EVP_PKEY_ED25519 ? EVP_PKEY_Q_keygen(nullptr, nullptr, "ED25519")
                  : s.type == EVP_PKEY_EC    ? EVP_PKEY_Q_keygen(nullptr, nullptr, "EC", s.curve)
                                             : EVP_PKEY_Q_keygen(nullptr, nullptr, "RSA", size_t{3072});
  if (!key) throw Error("OpenSSL cannot make a key for " + std::string(scheme));
  return PrivateKey(scheme, own(key));
}

PrivateKey PrivateKey::from_pem(std::string_view scheme, std::string_view pem) {
  const BioHandle bio = memory_of(pem);
  EVP_PKEY* key = PEM_read_bio_PrivateKey(bio.get(), nullptr, no_password, nullptr);
  ERR_clear_error();
  if (!key) throw Error("not a private key in PEM, or encrypted");
  PrivateKey out(scheme, own(key));
  const PublicKey checked(scheme, out.key_);  // throws when the scheme is not the key's
  return out;
}

PrivateKey PrivateKey::from_pem(std::string_view pem) {
  for (const char* scheme : {"ed25519", "ecdsa-sha2-nistp256", "ecdsa-sha2-nistp384"}) {
    try {
      return from_pem(scheme, pem);
    } catch (const Error&) {}
  }
  return from_pem("rsassa-pss-sha256", pem);
}

std::string PrivateKey::pem() const {
  const BioHandle bio(BIO_new(BIO_s_mem()));
  if (!bio || PEM_write_bio_PKCS8PrivateKey(bio.get(), key_.get(), nullptr, nullptr, 0, nullptr, nullptr) != 1)
    throw Error("OpenSSL cannot write the private key");
  return text_of(bio.get());
}

std::string PrivateKey::sign(std::string_view message) const {
  const std::unique_ptr<EVP_MD_CTX, ContextFree> context(EVP_MD_CTX_new());
  size_t size = 0;
  std::string out;
  bool good = context && prepare(find_scheme(scheme_), context.get(), key_.get(), RSA_PSS_SALTLEN_DIGEST, EVP_DigestSignInit) &&
              EVP_DigestSign(context.get(), nullptr, &size, bytes_of(message), message.size()) == 1;
  if (good) {
    out.resize(size);
    good = EVP_DigestSign(context.get(), reinterpret_cast<unsigned char*>(out.data()), &size, bytes_of(message), message.size()) == 1;
    out.resize(size);
  }
  if (!good) throw Error("OpenSSL cannot sign with " + scheme_);
  return out;
}

PublicKey PrivateKey::public_key() const { return PublicKey(scheme_, key_); }

std::string PrivateKey::keytype() const {
  const int type = find_scheme(scheme_).type;
  return type == EVP_PKEY_ED25519 ? "ed25519" : type == EVP_PKEY_EC ? "ecdsa" : "rsa";
}

std::string PrivateKey::public_text() const {
  if (find_scheme(scheme_).type == EVP_PKEY_ED25519) {
    unsigned char raw[32];
    size_t size = sizeof raw;
    if (EVP_PKEY_get_raw_public_key(key_.get(), raw, &size) != 1) throw Error("OpenSSL cannot write the public key");
    return to_hex({reinterpret_cast<const char*>(raw), size});
  }
  const BioHandle bio(BIO_new(BIO_s_mem()));
  if (!bio || PEM_write_bio_PUBKEY(bio.get(), key_.get()) != 1) throw Error("OpenSSL cannot write the public key");
  return text_of(bio.get());
}

}  // namespace mote::fleet
