#include "mote/fleet/package/provenance.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>

#include "mote/fleet/base/digest.h"
#include "mote/fleet/base/error.h"
#include "mote/fleet/base/json.h"
#include "mote/fleet/base/json_writer.h"
#include "mote/fleet/base/text.h"

namespace mote::fleet::package {
namespace {

namespace fs = std::filesystem;

constexpr const char* kMediaType = "application/vnd.dev.sigstore.bundle.v0.3+json";
constexpr const char* kPayloadType = "application/vnd.in-toto+json";
constexpr const char* kStatement = "https://in-toto.io/Statement/v1";
constexpr const char* kPredicate = "https://model_signing/signature/v1.0";
constexpr size_t kMaxSignedFiles = 65536;
constexpr const char* kIgnored[] = {".git", ".gitattributes", ".github", ".gitignore"};

using Resources = std::map<std::string, std::string>;  // name -> raw SHA-256

// What is signed: the envelope's "pre-authentication encoding".
std::string authenticated(const std::string& payload) {
  return "DSSEv1 " + std::to_string(std::string_view(kPayloadType).size()) + " " + kPayloadType + " " + std::to_string(payload.size()) +
         " " + payload;
}

std::string name_of(const std::string& path) { return fs::weakly_canonical(fs::absolute(path)).filename().string(); }

bool ignored(const std::string& name, const std::set<std::string>& also) {
  const std::string first = name.substr(0, name.find('/'));
  for (const char* i : kIgnored) {
    if (first == i) return true;
  }
  return also.count(name) > 0 || also.count(first) > 0;
}

Resources look(Files& files, const std::string& path, const std::set<std::string>& leave_out) {
  Resources out;
  if (files.size(path)) return {{".", digest_file(files, path)}};
  std::error_code code;
  for (fs::recursive_directory_iterator it(path, code), end; !code && it != end; it.increment(code)) {
    const std::string name = it->path().lexically_relative(path).generic_string();
    if (ignored(name, leave_out)) continue;
    if (!it->is_symlink() && it->is_directory()) continue;
    // A signature says nothing of what a link leads to, and whoever loads the folder follows it.
    if (it->is_symlink() || !it->is_regular_file())
      throw Error(path + ": " + name + (it->is_symlink() ? " is a symbolic link" : " is no plain file") +
                  "; a signed folder has plain files and folders only");
    if (out.size() >= kMaxSignedFiles) throw Error(path + ": more than 65536 files");
    out[name] = digest_file(files, it->path().string());
  }
  if (code) throw Error(path + ": " + code.message());
  if (out.empty()) throw Error(path + " does not exist, or is empty");
  return out;
}

// A signature that lies in the folder is no part of what it signs.
std::set<std::string> inside(const std::string& path, const std::string& signature_path) {
  const std::string name = fs::weakly_canonical(signature_path).lexically_relative(fs::weakly_canonical(path)).generic_string();
  if (name.empty() || name == "." || name.compare(0, 2, "..") == 0) return {};
  return {name};
}

std::string root_digest(const std::vector<std::string>& digests) {
  Digest all;
  for (const std::string& d : digests) all.add(d);
  return all.finish();
}

std::string statement(const std::string& path, const Resources& resources, const std::set<std::string>& left_out) {
  std::vector<std::string> digests, ignore(left_out.begin(), left_out.end());
  JsonWriter w;
  w.open('{').name("_type").value(kStatement).name("predicate").open('{').name("resources").open('[');
  for (const auto& [name, raw] : resources) {
    digests.push_back(raw);
    w.open('{').name("algorithm").value("sha256").name("digest").value(to_hex(raw)).name("name").value(name).close('}');
  }
  for (const char* i : kIgnored) ignore.emplace_back(i);
  w.close(']').name("serialization").open('{').name("allow_symlinks").value(false).name("hash_type").value("sha256");
  w.name("ignore_paths").value(ignore).name("method").value("files").close('}').close('}');
  w.name("predicateType").value(kPredicate).name("subject").open('[').open('{').name("digest").open('{').name("sha256");
  return w.value(to_hex(root_digest(digests))).close('}').name("name").value(name_of(path)).close('}').close(']').close('}').text;
}

// The scheme of a key on either curve, or an Error that names what is accepted.
PublicKey ec_key(std::string_view pem) {
  for (const char* scheme : {"ecdsa-sha2-nistp256", "ecdsa-sha2-nistp384"}) {
    try {
      return PublicKey(scheme, pem);
    } catch (const Error&) {}
  }
  throw Error("model signatures need a key on P-256 or P-384 in PEM");
}

// (resources, paths that were left out) of a statement whose signature is right.
std::pair<Resources, std::set<std::string>> parse_statement(const std::string& payload) {
  const Json s = Json::parse(payload);
  if (s.at("_type").string() != kStatement) throw Error("not an in-toto statement of version 1");
  if (s.at("predicateType").string() != kPredicate) throw Error("'" + s.at("predicateType").string() + "' is no model signature");
  const Json predicate = s.at("predicate"), how = predicate.at("serialization");
  if (how.at("method").string() != "files" || how.at("hash_type").string() != "sha256")
    throw Error("only signatures over files by SHA-256 can be verified");
  Resources out;
  std::vector<std::string> digests;
  for (Json::Cursor c(predicate.at("resources")); c.next();) {
    if (out.size() >= kMaxSignedFiles) throw Error("more than 65536 files");
    const std::string name = c.value().at("name").string();
    const std::optional<std::string> raw = from_hex(c.value().at("digest").string());
    if (c.value().at("algorithm").string() != "sha256" || !raw || raw->size() != kSha256Bytes) throw Error(name + " has no SHA-256");
    if (!out.emplace(name, *raw).second) throw Error(name + " is listed twice");
    digests.push_back(*raw);
  }
  Json::Cursor subject(s.at("subject"));
  if (!subject.next() || from_hex(subject.value().at("digest").at("sha256").string()) != root_digest(digests) || subject.next())
    throw Error("the statement's one subject is not the sum of its files");
  std::set<std::string> left_out;
  if (const auto paths = how.find("ignore_paths")) {
    for (Json::Cursor c(*paths); c.next();) left_out.insert(c.value().string());
  }
  return {out, left_out};
}

std::string open_envelope(std::string_view text, const PublicKey& key) {
  const Json bundle = Json::parse(text);
  if (bundle.at("mediaType").string() != kMediaType) throw Error("'" + bundle.at("mediaType").string() + "' is not " + kMediaType);
  const Json envelope = bundle.at("dsseEnvelope");
  if (envelope.at("payloadType").string() != kPayloadType) throw Error("the payload is no in-toto statement");
  const std::optional<std::string> payload = from_base64(envelope.at("payload").string());
  Json::Cursor signatures(envelope.at("signatures"));
  if (!payload || !signatures.next()) throw Error("no payload or no signature");
  const std::optional<std::string> signature = from_base64(signatures.value().at("sig").string());
  if (!signature || !key.verifies(authenticated(*payload), *signature)) throw Error("the signature is not of this key");
  return *payload;
}

}  // namespace

std::string sign_model(Files& files, const std::string& path, const PrivateKey& key, const std::string& signature_path) {
  (void)ec_key(key.public_text());
  const std::set<std::string> left_out = inside(path, signature_path);
  const std::string payload = statement(path, look(files, path, left_out), left_out);
  JsonWriter w;
  w.open('{').name("dsseEnvelope").open('{').name("payload").value(to_base64(payload)).name("payloadType").value(kPayloadType);
  w.name("signatures").open('[').open('{').name("keyid").value("").name("sig").value(to_base64(key.sign(authenticated(payload))));
  w.close('}').close(']').close('}').name("mediaType").value(kMediaType).name("verificationMaterial").open('{').name("publicKey");
  w.open('{').name("hint").value(to_hex(digest(key.public_text()))).close('}').name("tlogEntries").open('[').close(']');
  return w.close('}').close('}').text + "\n";
}

void verify_model(Files& files, const std::string& path, std::string_view bundle, std::string_view public_key,
                  const std::string& signature_path) {
  const auto [listed, left_out] = within(signature_path, [&] { return parse_statement(open_envelope(bundle, ec_key(public_key))); });
  std::set<std::string> also = inside(path, signature_path);
  also.insert(left_out.begin(), left_out.end());
  const Resources found = look(files, path, also);
  for (const auto& [name, raw] : listed) {
    const auto it = found.find(name);
    if (it == found.end()) throw Error(path + ": " + name + " is signed, but not there");
    if (it->second != raw) throw Error(path + ": " + name + " is not what was signed");
  }
  for (const auto& item : found) {
    if (listed.count(item.first) == 0) throw Error(path + ": " + item.first + " is there, but not signed");
  }
}

}  // namespace mote::fleet::package
