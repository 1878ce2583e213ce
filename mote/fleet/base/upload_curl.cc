#include <curl/curl.h>

#include <cstring>

#include "mote/fleet/base/upload.h"

namespace mote::fleet {
namespace {

size_t on_header(char* data, size_t size, size_t count, void* user) {
  UploadReply& reply = *static_cast<UploadReply*>(user);
  const std::string line(data, size * count);
  const auto value_of = [&](const char* name) -> std::string {
    const size_t length = std::strlen(name);
    if (line.size() <= length || ::strncasecmp(line.c_str(), name, length) != 0) return "";
    const size_t from = line.find_first_not_of(' ', length), to = line.find_last_not_of("\r\n ");
    return from != std::string::npos && to != std::string::npos && to >= from ? line.substr(from, to - from + 1) : "";
  };
  if (const std::string value = value_of("location:"); !value.empty()) reply.location = value;
  if (const std::string value = value_of("www-authenticate:"); !value.empty() && reply.challenge.size() < 16384)
    reply.challenge += value + "\n";
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
    curl_easy_setopt(curl_, CURLOPT_HEADERFUNCTION, on_header);
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
