#pragma once

// Logging in to an OCI registry: what WWW-Authenticate asks for (Basic, or a token of the realm it names), answered with credentials from a
// file as container tools write it: {"auths": {"HOST[:PORT]": {"auth": base64 of "user:password"}}}. No text of an Error has a secret.

#include <map>
#include <string>
#include <string_view>

#include "mote/fleet/base/fetch.h"
#include "mote/fleet/base/files.h"

namespace mote::fleet {

// Of WWW-Authenticate, one line per header. Throws Error when none of them can be answered.
struct Challenge {
  bool token = false;  // Bearer, else Basic
  std::string realm, service, scope;
};
Challenge parse_challenge(std::string_view headers);

// A realm's answer; a token that may stand in a header. Throws Error.
std::string parse_token(std::string_view json);

// Scheme, host and port of two addresses are the same.
bool same_origin(std::string_view a, std::string_view b);

// host -> base64 of user:password. Throws Error.
std::map<std::string, std::string> parse_credentials(std::string_view json);

class RegistryLogin {
 public:
  // `path`: the file of credentials, read when a registry asks for them; empty: none.
  RegistryLogin(Fetcher& plain, Files& files, std::string path) : plain_(plain), files_(files), path_(std::move(path)) {}

  // For the header Authorization of a request to this address; empty before a registry has asked.
  std::string authorization(const std::string& url) const;
  // The registry has refused a request to this address: does what it asks for. Throws Error when that is not possible. `asked_by` is the
  // address that sent the challenge: only the registry's own origin may ask. A host that it redirects to would get its password (as in
  // CVE-2020-15157).
  void answer(const std::string& url, const std::string& asked_by, const std::string& challenge);

 private:
  std::string credentials_for(const std::string& host);

  Fetcher& plain_;
  Files& files_;
  const std::string path_;
  std::map<std::string, std::string> by_origin_;
};

// The file that the environment (MOTE_REGISTRY_AUTH) names, else `otherwise`.
std::string registry_auth_path(const std::string& otherwise);

}  // namespace mote::fleet
