#pragma once

// Provenance of files as an OpenSSF model-signing bundle (a Sigstore bundle with a DSSE envelope around an in-toto statement), signed with
// a key. What PyPI's `model-signing` signs with a key is verified here, and the other way round; no network.

#include <string>
#include <string_view>

#include "mote/fleet/base/files.h"
#include "mote/fleet/base/key.h"

namespace mote::fleet::package {

// Of a file, or a folder with everything in it (links and .git* are left out; so is `signature_path`). Keys: ECDSA P-256 or P-384.
// Returns the bundle's text.
std::string sign_model(Files& files, const std::string& path, const PrivateKey& key, const std::string& signature_path);

// Throws Error unless the bundle was signed by this key and lists exactly the files that are there, with their digests. `public_key`: PEM.
void verify_model(Files& files, const std::string& path, std::string_view bundle, std::string_view public_key,
                  const std::string& signature_path);

}  // namespace mote::fleet::package
