#pragma once

// Repositories in an OCI registry. Below oci+http://HOST/NAME (or oci+https) metadata/FILE is the first layer of the manifest tagged FILE,
// and targets/.../SHA256.FILE the blob of that digest. Other addresses pass through.

#include <memory>
#include <string>

#include "mote/fleet/base/fetch.h"
#include "mote/fleet/base/files.h"

namespace mote::fleet {

inline constexpr const char* kOciManifest = "application/vnd.oci.image.manifest.v1+json";

struct OciPlace {
  std::string origin, base;  // http://HOST and http://HOST/v2/NAME
};
bool is_oci_url(const std::string& url);
OciPlace parse_oci_url(const std::string& url);  // throws Error

// "sha256:..." of a manifest's first layer. Throws Error.
std::string first_layer(std::string_view manifest);

// `auth_path`: credentials for registries that ask (base/registry_login.h); empty: none.
std::unique_ptr<Fetcher> make_oci_fetcher(std::unique_ptr<Fetcher> plain, Files& files, const std::string& auth_path);

}  // namespace mote::fleet
