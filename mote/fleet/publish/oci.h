#pragma once

// A repository as OCI artifacts: every file is a blob; a metadata file is also a manifest with one layer, tagged with the file's name
// ("3.root.json", "timestamp.json"). Devices read it back through base/fetch_oci.h.

#include <string>

#include "mote/fleet/base/files.h"
#include "mote/fleet/base/registry_login.h"
#include "mote/fleet/base/upload.h"

namespace mote::fleet::publish {

// An OCI image layout of the repository's public files.
void write_oci_layout(Files& files, const std::string& repository, const std::string& layout);

// The same to a registry: oci+http://HOST/NAME. timestamp goes last, so that devices see the old state or the new. Returns how many files
// were sent; blobs that are there already are not.
size_t push_oci(Files& files, Uploader& uploader, RegistryLogin& login, const std::string& repository, const std::string& url);

}  // namespace mote::fleet::publish
