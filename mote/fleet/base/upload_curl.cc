#include <curl/curl.h>

#include "mote/fleet/base/text.h"
#include "mote/fleet/base/upload.h"

namespace mote::fleet {
namespace {

size_t on_reply_header(char* data, size_t size, size_t count, void* user) {
  UploadReply& reply = *static_cast<UploadReply*>(user);
  const std::string_view line(data, size * count);
  if (const auto to = header_value(line, "location")) reply.location = *to;
  if (const auto asked = header_value(line, "www-authenticate"); asked && reply.challenge.size() < kMaxChallenge)
    reply.challenge += *asked + "\n";
  return size * count;
}

size_t drop(char*, size_t size, size_t count, void*) { return size * count; }

class CurlUploader : public Uploader {
 public:
  CurlUploader() : curl_(curl_easy_init()) {
    if (!curl_) throw Error("libcurl cannot be started");
  }
  CurlUploader(const CurlUploader&) = delete;
  CurlUploader& operator=(const CurlUploader&) = delete;
  ~CurlUploader() override { curl_easy_cleanup(curl_); }

  UploadReply send(const UploadRequest& request) override {
    UploadReply reply;
    curl_easy_reset(curl_);
    curl_easy_setopt(curl_, CURLOPT_URL, request.url.c_str());
    curl_easy_setopt(curl_, CURLOPT_PROTOCOLS_STR, "http,https");
    curl_easy_setopt(curl_, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(curl_, CURLOPT_CONNECTTIMEOUT, 30L);
    curl_easy_setopt(curl_, CURLOPT_HEADERFUNCTION, on_reply_header);
    curl_easy_setopt(curl_, CURLOPT_HEADERDATA, &reply);
    curl_easy_setopt(curl_, CURLOPT_WRITEFUNCTION, drop);
    if (request.method == "HEAD") {
      curl_easy_setopt(curl_, CURLOPT_NOBODY, 1L);
    } else {
      curl_easy_setopt(curl_, CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(request.body.size()));
      curl_easy_setopt(curl_, CURLOPT_POSTFIELDS, request.body.data());
      curl_easy_setopt(curl_, CURLOPT_CUSTOMREQUEST, request.method.c_str());
    }
    curl_slist* headers = curl_slist_append(nullptr, ("Content-Type: " + request.content_type).c_str());
    if (!request.authorization.empty()) headers = curl_slist_append(headers, ("Authorization: " + request.authorization).c_str());
    curl_easy_setopt(curl_, CURLOPT_HTTPHEADER, headers);
    const CURLcode code = curl_easy_perform(curl_);
    curl_slist_free_all(headers);
    if (code != CURLE_OK) throw Error(request.url + ": " + curl_easy_strerror(code));
    long status = 0;
    curl_easy_getinfo(curl_, CURLINFO_RESPONSE_CODE, &status);
    reply.status = static_cast<int>(status);
    return reply;
  }

 private:
  CURL* curl_;
};

}  // namespace

std::unique_ptr<Uploader> make_curl_uploader() { return std::make_unique<CurlUploader>(); }

}  // namespace mote::fleet
