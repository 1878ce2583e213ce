#pragma once

// Sending to a server, for publishers.

#include <cstdint>
#include <memory>
#include <string>

#include "mote/fleet/base/error.h"

namespace mote::fleet {

struct UploadRequest {
  std::string method, url;  // HEAD, POST or PUT
  std::string content_type, body;
  std::string authorization;  // header of that name, or empty
};

struct UploadReply {
  int status = 0;
  std::string location;   // header of that name
  std::string challenge;  // of a 401: WWW-Authenticate, one line per header
};

class Uploader {
 public:
  virtual ~Uploader() = default;
  virtual UploadReply send(const UploadRequest& request) = 0;  // throws Error when there is no answer
};

std::unique_ptr<Uploader> make_curl_uploader();

}  // namespace mote::fleet
