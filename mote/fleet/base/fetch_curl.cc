#include <curl/curl.h>

#include <cstdlib>
#include <exception>

#include "mote/fleet/base/fetch.h"
#include "mote/fleet/base/text.h"

namespace mote::fleet {
namespace {

// Slower than this for so long is an attack, or no connection worth waiting for.
constexpr long kSlowBytesPerSecond = 128, kSlowSeconds = 20;

// One transfer: the answer's headers and where its body goes.
struct Transfer {
  CURL* curl;
  const FetchRequest& request;
  const Fetcher::Sink& sink;
  FetchReply reply;
  std::string challenge;
  uint64_t received = 0;
  bool begun = false;
  std::exception_ptr thrown;
};

size_t on_header(char* data, size_t size, size_t count, void* user) {
  Transfer& t = *static_cast<Transfer*>(user);
  const std::string_view line(data, size * count);
  // A new answer (after a redirection) starts anew.
  if (line.substr(0, 5) == "HTTP/") t.reply = FetchReply(), t.challenge.clear();
  if (const auto tag = header_value(line, "etag"); tag && tag->substr(0, 2) != "W/" && tag->size() < 1024) t.reply.etag = *tag;
  if (const auto range = header_value(line, "content-range"); range && range->substr(0, 6) == "bytes ")
    t.reply.offset = std::strtoull(range->c_str() + 6, nullptr, 10);
  if (const auto asked = header_value(line, "www-authenticate"); asked && t.challenge.size() < kMaxChallenge) t.challenge += *asked + "\n";
  return line.size();
}

void begin(Transfer& t) {
  long status = 0;
  curl_easy_getinfo(t.curl, CURLINFO_RESPONSE_CODE, &status);
  if (status != 200 && status != 206) {
    const char* last = nullptr;
    curl_easy_getinfo(t.curl, CURLINFO_EFFECTIVE_URL, &last);
    throw HttpError(t.request.url + ": the server answers " + std::to_string(status), static_cast<int>(status), t.challenge,
                    last != nullptr ? last : "");
  }
  if (status == 200) t.reply.offset = 0;
  if (t.reply.offset != 0 && t.reply.offset != t.request.offset)
    throw Error(t.request.url + ": the server sends another range than asked for");
  t.begun = true;
  if (t.sink.begin) t.sink.begin(t.reply);
}

size_t on_body(char* data, size_t size, size_t count, void* user) {
  Transfer& t = *static_cast<Transfer*>(user);
  const std::string_view bytes(data, size * count);
  try {
    if (!t.begun) begin(t);
    if (bytes.size() > t.request.max_bytes - t.received)
      throw Error(t.request.url + ": longer than the " + std::to_string(t.request.max_bytes) + " bytes allowed");
    t.received += bytes.size();
    t.sink.data(bytes);
    return bytes.size();
  } catch (...) {
    t.thrown = std::current_exception();
    return 0;
  }
}

class CurlFetcher : public Fetcher {
 public:
  CurlFetcher() {
    static const CURLcode once = curl_global_init(CURL_GLOBAL_DEFAULT);
    if (once != CURLE_OK || !(curl_ = curl_easy_init())) throw Error("libcurl cannot be started");
  }
  CurlFetcher(const CurlFetcher&) = delete;
  CurlFetcher& operator=(const CurlFetcher&) = delete;
  ~CurlFetcher() override { curl_easy_cleanup(curl_); }

  FetchReply get(const FetchRequest& request, const Sink& sink) override {
    Transfer t{curl_, request, sink, {}, "", 0, false, nullptr};
    curl_easy_reset(curl_);  // keeps connections
    char text[CURL_ERROR_SIZE] = "";
    set(CURLOPT_ERRORBUFFER, text);
    set(CURLOPT_URL, request.url.c_str());
    const bool https = request.url.compare(0, 6, "https:") == 0;
    set(CURLOPT_PROTOCOLS_STR, "http,https");
    set(CURLOPT_REDIR_PROTOCOLS_STR, https ? "https" : "http,https");
    set(CURLOPT_FOLLOWLOCATION, 1L);
    set(CURLOPT_MAXREDIRS, 5L);
    set(CURLOPT_NOSIGNAL, 1L);
    set(CURLOPT_PATH_AS_IS, 1L);
    set(CURLOPT_CONNECTTIMEOUT, 30L);
    set(CURLOPT_LOW_SPEED_LIMIT, kSlowBytesPerSecond);
    set(CURLOPT_LOW_SPEED_TIME, kSlowSeconds);
    set(CURLOPT_USERAGENT, "mote");
    set(CURLOPT_HEADERFUNCTION, on_header);
    set(CURLOPT_HEADERDATA, &t);
    set(CURLOPT_WRITEFUNCTION, on_body);
    set(CURLOPT_WRITEDATA, &t);
    if (request.max_bytes_per_second > 0) set(CURLOPT_MAX_RECV_SPEED_LARGE, static_cast<curl_off_t>(request.max_bytes_per_second));
    const std::string range = std::to_string(request.offset) + "-";
    curl_slist* headers = nullptr;
    if (request.offset > 0) {
      set(CURLOPT_RANGE, range.c_str());
      if (!request.if_etag.empty()) headers = curl_slist_append(headers, ("If-Range: " + request.if_etag).c_str());
    }
    if (!request.accept.empty()) headers = curl_slist_append(headers, ("Accept: " + request.accept).c_str());
    if (!request.authorization.empty()) headers = curl_slist_append(headers, ("Authorization: " + request.authorization).c_str());
    set(CURLOPT_HTTPHEADER, headers);
    const CURLcode code = curl_easy_perform(curl_);
    curl_slist_free_all(headers);
    if (t.thrown) std::rethrow_exception(t.thrown);
    if (code != CURLE_OK) throw Error(request.url + ": " + (text[0] ? text : curl_easy_strerror(code)));
    if (!t.begun) begin(t);  // an empty body
    return t.reply;
  }

 private:
  template <class Value>
  void set(CURLoption option, Value value) {
    if (curl_easy_setopt(curl_, option, value) != CURLE_OK) throw Error("libcurl has no option " + std::to_string(option));
  }
  CURL* curl_ = nullptr;
};

}  // namespace

std::unique_ptr<Fetcher> make_curl_fetcher() { return std::make_unique<CurlFetcher>(); }

std::string fetch_bytes(Fetcher& fetcher, const std::string& url, uint64_t max_bytes) {
  std::string out;
  FetchRequest request;
  request.url = url;
  request.max_bytes = max_bytes;
  fetcher.get(request, {nullptr, [&](std::string_view bytes) { out += bytes; }});
  return out;
}

}  // namespace mote::fleet
