#include "mote/fleet/base/key.h"

#include <gtest/gtest.h>

#include "mote/fleet/base/digest.h"
#include "mote/fleet/base/error.h"
#include "mote/fleet/base/text.h"

namespace mote::fleet {
namespace {

TEST(Key, EverySchemeSignsAndVerifies) {
  std::string rsa;
  for (const char* scheme :
       {"ed25519", "ecdsa-sha2-nistp256", "ecdsa-sha2-nistp384", "rsassa-pss-sha256", "rsassa-pss-sha512", "rsa-pkcs1v15-sha256"}) {
    // One RSA key is made for all its schemes: it takes long.
    const bool is_rsa = std::string_view(scheme).substr(0, 3) == "rsa";
    if (is_rsa && rsa.empty()) rsa = PrivateKey::generate(scheme).pem();
    const PrivateKey key = PrivateKey::from_pem(scheme, is_rsa ? rsa : PrivateKey::generate(scheme).pem());
    const PublicKey there(scheme, key.public_text());
    const std::string signature = key.sign("message");
    EXPECT_TRUE(there.verifies("message", signature)) << scheme;
    EXPECT_FALSE(there.verifies("massage", signature)) << scheme;
    EXPECT_FALSE(there.verifies("message", "")) << scheme;
    EXPECT_FALSE(there.verifies("message", signature.substr(1))) << scheme;
    if (!is_rsa) {
      EXPECT_FALSE(PrivateKey::generate(scheme).public_key().verifies("message", signature)) << scheme;
    }
    EXPECT_EQ(there.der(), key.public_key().der());
    for (size_t i = 0; i < signature.size(); i += 7) {
      std::string changed = signature;
      changed[i] = static_cast<char>(changed[i] ^ 1);
      EXPECT_FALSE(there.verifies("message", changed)) << scheme << " byte " << i;
    }
  }
}

// RFC 8032, 7.1, test 2.
TEST(Key, Ed25519KnownAnswer) {
  const PublicKey key("ed25519", "3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c");
  EXPECT_TRUE(key.verifies("\x72", *from_hex("92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da"
                                             "085ac1e43e15996e458f3613d0f11d8c387b2eaeb4302aeeb00d291612bb0c00")));
}

TEST(Key, EcdsaPointInHexadecimalIsTheSameKey) {
  const PrivateKey key = PrivateKey::generate("ecdsa-sha2-nistp256");
  const std::string der = key.public_key().der();
  const PublicKey point("ecdsa-sha2-nistp256", to_hex(der.substr(der.size() - 65)));
  EXPECT_EQ(point.der(), der);
  EXPECT_TRUE(point.verifies("m", key.sign("m")));
}

TEST(Key, RefusesKeysOfAnotherKind) {
  const std::string p384 = PrivateKey::generate("ecdsa-sha2-nistp384").public_text(), ed = PrivateKey::generate("ed25519").public_text();
  EXPECT_THROW(PublicKey("ecdsa-sha2-nistp256", p384), Error);
  EXPECT_THROW(PublicKey("rsassa-pss-sha256", p384), Error);
  EXPECT_THROW(PublicKey("ed25519", p384), Error);
  EXPECT_THROW(PublicKey("ecdsa-sha2-nistp256", ed), Error);
  EXPECT_THROW(PublicKey("sphincs", ed), Error);
  EXPECT_THROW(PublicKey("ed25519", ed + "00"), Error);
  EXPECT_THROW(PublicKey("ed25519", ""), Error);
  EXPECT_THROW(PublicKey("ecdsa-sha2-nistp256", "04" + std::string(128, '1')), Error);  // not on the curve
  EXPECT_THROW(PrivateKey::from_pem("ed25519", "-----BEGIN PRIVATE KEY-----\n"), Error);
}

TEST(Digest, KnownAnswers) {
  EXPECT_EQ(to_hex(digest("abc")), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(to_hex(digest("abc", "sha512")).substr(0, 16), "ddaf35a193617aba");
  EXPECT_THROW(digest("abc", "md5"), Error);
}

// One key in two encodings counted as two toward a threshold.
TEST(Key, EveryEncodingOfAPointIsTheSameKey) {
  // P-256: 2 * G, whole; its y is odd.
  const std::string x = "7cf27b188d034f7e8a52380304b51ac3c08969e277f21b35a60b48fc47669978";
  const std::string y = "07775510db8ed040293d9ac69f7430dbba7dade63ce982299e04b79d227873d1";
  const PublicKey whole("ecdsa-sha2-nistp256", "04" + x + y);
  const PublicKey compressed("ecdsa-sha2-nistp256", "03" + x), hybrid("ecdsa-sha2-nistp256", "07" + x + y);
  EXPECT_EQ(whole.der(), compressed.der());
  EXPECT_EQ(whole.der(), hybrid.der());
  EXPECT_NE(whole.der(), PublicKey("ecdsa-sha2-nistp256", "02" + x).der());
  // PEM of the compressed point.
  const std::string prefix = "3039301306072a8648ce3d020106082a8648ce3d030107032200";
  const std::string pem = "-----BEGIN PUBLIC KEY-----\n" + to_base64(*from_hex(prefix + "03" + x)) + "\n-----END PUBLIC KEY-----\n";
  EXPECT_EQ(whole.der(), PublicKey("ecdsa-sha2-nistp256", pem).der());
}

}  // namespace
}  // namespace mote::fleet
