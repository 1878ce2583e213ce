#pragma once

// Keys and signatures over OpenSSL, with the names that TUF metadata give them.
//
// Schemes: ed25519; ecdsa-sha2-nistp256, ecdsa-sha2-nistp384; rsassa-pss-sha256, -sha384, -sha512; rsa-pkcs1v15-sha256, -sha384, -sha512.
// RSA keys have at least 2048 bits.

#include <memory>
#include <string>
#include <string_view>

struct evp_pkey_st;

namespace mote::fleet {

struct KeyFree {
  void operator()(evp_pkey_st* key) const;
};
using KeyHandle = std::shared_ptr<evp_pkey_st>;

class PublicKey {
 public:
  // `text`: PEM (SubjectPublicKeyInfo), or hexadecimal: 32 bytes of ed25519, the point (04 x y) of ECDSA.
  // Throws Error when the scheme is unknown, or the key is not of that scheme.
  PublicKey(std::string_view scheme, std::string_view text);

  // False for a signature that is wrong in any way.
  bool verifies(std::string_view message, std::string_view signature) const;

  // The key itself (DER): equal for equal keys, whatever their text.
  const std::string& der() const { return der_; }

 private:
  friend class PrivateKey;
  PublicKey(std::string_view scheme, KeyHandle key);
  void check() const;

  std::string scheme_, der_;
  KeyHandle key_;
};

class PrivateKey {
 public:
  static PrivateKey generate(std::string_view scheme);                        // ed25519 or ecdsa-sha2-nistp256
  static PrivateKey from_pem(std::string_view scheme, std::string_view pem);  // PKCS #8, not encrypted
  static PrivateKey from_pem(std::string_view pem);                           // the usual scheme of the key's type

  std::string pem() const;
  std::string sign(std::string_view message) const;
  PublicKey public_key() const;
  const std::string& scheme() const { return scheme_; }
  std::string keytype() const;      // ed25519, ecdsa or rsa
  std::string public_text() const;  // hexadecimal for ed25519, PEM otherwise: TUF's keyval.public

 private:
  PrivateKey(std::string_view scheme, KeyHandle key) : scheme_(scheme), key_(std::move(key)) {}
  std::string scheme_;
  KeyHandle key_;
};

}  // namespace mote::fleet
