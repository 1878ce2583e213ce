#include "mote/fleet/base/fetch_oci.h"

#include "mote/fleet/base/json.h"
#include "mote/fleet/base/registry_login.h"
#include "mote/fleet/base/text.h"

namespace mote::fleet {
namespace {

constexpr uint64_t kMaxManifest = 1 << 16;
constexpr std::string_view kPrefix = "oci+";

class OciFetcher : public Fetcher {
 public:
  OciFetcher(std::unique_ptr<Fetcher> plain, Files& files, const std::string& auth_path)
      : plain_(std::move(plain)), login_(*plain_, files, auth_path) {}

  FetchReply get(const FetchRequest& request, const Sink& sink) override {
    if (!is_oci_url(request.url)) return plain_->get(request, sink);
    FetchRequest blob = request;
    const size_t metadata = request.url.rfind("/metadata/"), targets = request.url.rfind("/targets/");
    const std::string name = request.url.substr(request.url.rfind('/') + 1);
    if (targets != std::string::npos && (metadata == std::string::npos || targets > metadata)) {
      const std::string digest = name.substr(0, name.find('.'));
      if (digest.size() != 64 || !from_hex(digest)) throw HttpError(request.url + ": a registry serves targets by digest only", 404);
      blob.url = parse_oci_url(request.url.substr(0, targets)).base + "/blobs/sha256:" + digest;
    } else {
      if (metadata == std::string::npos) throw HttpError(request.url + " is neither below metadata/ nor below targets/", 404);
      blob.url = metadata_blob(parse_oci_url(request.url.substr(0, metadata)).base, name);
    }
    return ask(blob, sink);
  }

 private:
  // A registry may want a login, or a new one when a token has become old.
  FetchReply ask(FetchRequest request, const Sink& sink) {
    request.authorization = login_.authorization(request.url);
    try {
      return plain_->get(request, sink);
    } catch (const HttpError& e) {
      if (e.status != 401) throw;
      login_.answer(request.url, e.url, e.challenge);
    }
    request.authorization = login_.authorization(request.url);
    try {
      return plain_->get(request, sink);
    } catch (const HttpError& e) {
      if (e.status != 401) throw;
      throw HttpError(request.url + ": the registry refuses the login", e.status);
    }
  }

  std::string metadata_blob(const std::string& base, const std::string& tag) {
    std::string text;
    FetchRequest request;
    request.url = base + "/manifests/" + tag;
    request.max_bytes = kMaxManifest;
    request.accept = kOciManifest;
    ask(request, {nullptr, [&](std::string_view bytes) { text += bytes; }});
    return base + "/blobs/" + within(request.url, [&] { return first_layer(text); });
  }
  std::unique_ptr<Fetcher> plain_;
  RegistryLogin login_;
};

}  // namespace

bool is_oci_url(const std::string& url) { return url.compare(0, kPrefix.size(), kPrefix) == 0; }

OciPlace parse_oci_url(const std::string& url) {
  const size_t host = url.find("://");
  const size_t slash = host == std::string::npos ? host : url.find('/', host + 3);
  if (!is_oci_url(url) || slash == std::string::npos || slash + 1 == url.size()) throw Error("'" + url + "' is not oci+http://HOST/NAME");
  const std::string origin = url.substr(kPrefix.size(), slash - kPrefix.size());
  std::string name = url.substr(slash + 1);
  if (name.back() == '/') name.pop_back();
  return {origin, origin + "/v2/" + name};
}

std::string first_layer(std::string_view manifest) {
  Json::Cursor layers(Json::parse(manifest).at("layers"));
  if (!layers.next()) throw Error("the manifest has no layer");
  std::string digest = layers.value().at("digest").string(71);
  if (digest.compare(0, 7, "sha256:") != 0 || digest.size() != 71 || !from_hex(digest.substr(7))) throw Error("no SHA-256 of its layer");
  return digest;
}

std::unique_ptr<Fetcher> make_oci_fetcher(std::unique_ptr<Fetcher> plain, Files& files, const std::string& auth_path) {
  return std::make_unique<OciFetcher>(std::move(plain), files, auth_path);
}

}  // namespace mote::fleet
