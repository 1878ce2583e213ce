#pragma once

// A package over an unreliable network: each MiB is verified before it is written, and what was written is never fetched again.

#include "mote/fleet/base/clock.h"
#include "mote/fleet/base/fetch.h"
#include "mote/fleet/package/package.h"

namespace mote::fleet::package {

struct DownloadRequest {
  std::string url;
  std::string header_sha256;  // raw; signed, or it means nothing
  uint64_t bytes = 0;         // of the whole package; signed
  uint64_t max_bytes_per_second = 0;
  int idle_attempts = 5;  // so many in a row that bring no new chunk are the end; the next call goes on
};

struct DownloadReport {
  uint64_t fetched_bytes = 0;  // over the network, headers of HTTP apart
  int attempts = 0;
};

// Brings `path` to be the package. What is there is read again: chunks that are right stay. Throws Error when the connection fails too
// often, or the content is not what was signed: none of that is written.
DownloadReport download(Fetcher& fetcher, Files& files, Clock& clock, const DownloadRequest& request, const std::string& path);

}  // namespace mote::fleet::package
