#pragma once

// The network as fleet code sees it.

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "mote/fleet/base/error.h"

namespace mote::fleet {

// The server answered, but not with the file.
class HttpError : public Error {
 public:
  HttpError(const std::string& text, int http_status, std::string authenticate = "", std::string answered_by = "")
      : Error(text), status(http_status), challenge(std::move(authenticate)), url(std::move(answered_by)) {}
  int status;
  std::string challenge;  // of a 401: WWW-Authenticate, one line per header
  std::string url;        // that was answered so: after redirections not the one that was asked for; empty: not known
};

struct FetchRequest {
  std::string url;
  uint64_t offset = 0;                // first byte wanted
  std::string if_etag;                // the range is wanted only of this version (If-Range)
  uint64_t max_bytes = 0;             // of the answer's body; one more is an Error
  uint64_t max_bytes_per_second = 0;  // 0: as fast as it goes
  std::string accept;                 // media type that is wanted; empty: any
  std::string authorization;          // header of that name; not sent on to other hosts
};

struct FetchReply {
  uint64_t offset = 0;  // of the first byte that came: 0 when the server has no ranges, or the file has changed
  std::string etag;     // strong ones only
};

class Fetcher {
 public:
  virtual ~Fetcher() = default;
  // Told where the body starts before its first byte, then its bytes in order. May throw, which ends the transfer.
  struct Sink {
    std::function<void(const FetchReply&)> begin;
    std::function<void(std::string_view)> data;
  };
  // Throws HttpError for a status that is not 200 or 206, Error when the connection fails, ends early, or max_bytes is passed.
  virtual FetchReply get(const FetchRequest& request, const Sink& sink) = 0;
};

// libcurl: HTTP and HTTPS, at most five redirections, never from HTTPS to HTTP.
std::unique_ptr<Fetcher> make_curl_fetcher();

// A whole small file.
std::string fetch_bytes(Fetcher& fetcher, const std::string& url, uint64_t max_bytes);

}  // namespace mote::fleet
