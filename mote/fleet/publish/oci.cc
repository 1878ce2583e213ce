#include "mote/fleet/publish/oci.h"

#include <filesystem>
#include <functional>
#include <vector>

#include "mote/fleet/base/digest.h"
#include "mote/fleet/base/fetch_oci.h"
#include "mote/fleet/base/json_writer.h"
#include "mote/fleet/base/text.h"

namespace mote::fleet::publish {
namespace {

constexpr uint64_t kMaxFile = uint64_t{1} << 34;
constexpr const char* kEmpty = "{}";

struct Artifact {
  std::string path, name;
  bool metadata;
};

// Packages first, then metadata, timestamp last.
std::vector<Artifact> artifacts(Files& files, const std::string& repository) {
  std::vector<Artifact> out;
  const std::string targets = repository + "/targets", metadata = repository + "/metadata";
  for (std::filesystem::recursive_directory_iterator it(targets), end; it != end; ++it) {
    if (it->is_regular_file()) out.push_back({it->path().string(), it->path().filename().string(), false});
  }
  for (const std::string& name : files.list(metadata)) {
    if (name != "timestamp.json") out.push_back({metadata + "/" + name, name, true});
  }
  if (!files.size(metadata + "/timestamp.json")) throw Error(repository + " was never published");
  out.push_back({metadata + "/timestamp.json", "timestamp.json", true});
  return out;
}

std::string read_whole(Files& files, const std::string& path) {
  auto bytes = read_file(files, path, kMaxFile);
  if (!bytes) throw Error(path + " is gone");
  return *bytes;
}

std::string sha256_name(const std::string& bytes) { return "sha256:" + to_hex(digest(bytes)); }

void descriptor(JsonWriter& w, const char* type, const std::string& bytes) {
  w.open('{').name("digest").value(sha256_name(bytes)).name("mediaType").value(type).name("size").value(uint64_t{bytes.size()}).close('}');
}

std::string manifest_of(const std::string& file) {
  JsonWriter w;
  w.open('{').name("config");
  descriptor(w, "application/vnd.oci.empty.v1+json", kEmpty);
  w.name("layers").open('[');
  descriptor(w, "application/json", file);
  w.close(']').name("mediaType").value(kOciManifest).name("schemaVersion").value(uint64_t{2});
  return w.close('}').text;
}

class Registry {
 public:
  Registry(Uploader& uploader, RegistryLogin& login, const std::string& url)
      : uploader_(uploader), login_(login), place_(parse_oci_url(url)) {}

  // False: it was there.
  bool put_blob(const std::string& bytes) {
    const std::string name = sha256_name(bytes);
    if (send({"HEAD", place_.base + "/blobs/" + name, "", "", ""}).status == 200) return false;
    const UploadReply session = send({"POST", place_.base + "/blobs/uploads/", "application/octet-stream", "", ""});
    if (session.status != 202 || session.location.empty()) fail("POST", session.status);
    std::string to = session.location[0] == '/' ? place_.origin + session.location : session.location;
    to += (to.find('?') == std::string::npos ? "?digest=" : "&digest=") + name;
    const int status = send({"PUT", to, "application/octet-stream", bytes, ""}).status;
    if (status != 201) fail("PUT of a blob", status);
    return true;
  }
  void put_manifest(const std::string& tag, const std::string& text) {
    const int status = send({"PUT", place_.base + "/manifests/" + tag, kOciManifest, text, ""}).status;
    if (status != 201) fail("PUT of manifest " + tag, status);
  }

 private:
  UploadReply send(UploadRequest request) {
    request.authorization = login_.authorization(request.url);
    UploadReply reply = uploader_.send(request);
    if (reply.status != 401) return reply;
    // An upload may be led elsewhere by the registry, even from HTTPS to HTTP; redirections are not followed.
    login_.answer(place_.origin, request.url, reply.challenge);
    request.authorization = login_.authorization(request.url);
    reply = uploader_.send(request);
    if (reply.status == 401) throw Error(place_.base + ": the registry refuses the login");
    return reply;
  }
  [[noreturn]] void fail(const std::string& what, int status) const {
    throw Error(place_.base + ": " + what + " is answered with " + std::to_string(status));
  }
  Uploader& uploader_;
  RegistryLogin& login_;
  const OciPlace place_;
};

}  // namespace

void write_oci_layout(Files& files, const std::string& repository, const std::string& layout) {
  const std::string blobs = layout + "/blobs/sha256/";
  files.make_dir(blobs);
  const auto put = [&](const std::string& bytes) {
    const std::string path = blobs + to_hex(digest(bytes));
    if (!files.size(path)) replace_file(files, path, bytes);
  };
  put(kEmpty);
  JsonWriter index;
  index.open('{').name("manifests").open('[');
  for (const Artifact& a : artifacts(files, repository)) {
    const std::string bytes = read_whole(files, a.path);
    put(bytes);
    if (!a.metadata) continue;
    const std::string manifest = manifest_of(bytes);
    put(manifest);
    index.open('{').name("annotations").open('{').name("org.opencontainers.image.ref.name").value(a.name).close('}');
    index.name("digest").value(sha256_name(manifest)).name("mediaType").value(kOciManifest);
    index.name("size").value(uint64_t{manifest.size()}).close('}');
  }
  index.close(']').name("mediaType").value("application/vnd.oci.image.index.v1+json").name("schemaVersion").value(uint64_t{2}).close('}');
  replace_file(files, layout + "/oci-layout", "{\"imageLayoutVersion\":\"1.0.0\"}");
  replace_file(files, layout + "/index.json", index.text);
}

size_t push_oci(Files& files, Uploader& uploader, RegistryLogin& login, const std::string& repository, const std::string& url) {
  Registry registry(uploader, login, url);
  registry.put_blob(kEmpty);
  size_t sent = 0;
  for (const Artifact& a : artifacts(files, repository)) {
    const std::string bytes = read_whole(files, a.path);
    sent += registry.put_blob(bytes);
    if (a.metadata) registry.put_manifest(a.name, manifest_of(bytes));
  }
  return sent;
}

}  // namespace mote::fleet::publish
