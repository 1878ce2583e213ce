// What a registry does with an upload: the password goes to the registry itself, wherever it leads the bytes.

#include "mote/fleet/publish/oci.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>

#include "mote/fleet/base/error.h"
#include "mote/fleet/testing/world.h"

namespace mote::fleet::publish {
namespace {

constexpr const char* kPassword = "Basic dTpw";

// A registry at https://r.example that leads uploads to `leads_to`. `wants_login`: itself too.
class FakeRegistry : public Uploader, public Fetcher {
 public:
  UploadReply send(const UploadRequest& request) override {
    asked.emplace_back(request.url, request.authorization);
    const bool own = same_origin(request.url, "https://r.example/");
    UploadReply reply;
    if (own ? wants_login && request.authorization.empty() : storage_challenge) {
      reply.status = 401;
      reply.challenge = own ? "Basic realm=\"r\"\n" : challenge;
    } else if (request.method == "HEAD") {
      reply.status = 404;
    } else if (request.method == "POST") {
      reply.status = 202;
      reply.location = leads_to;
    } else {
      reply.status = 201;
    }
    return reply;
  }
  FetchReply get(const FetchRequest& request, const Sink& sink) override {  // of a realm
    asked.emplace_back(request.url, request.authorization);
    sink.data(R"({"token":"t"})");
    return {};
  }
  // What addresses that are not the registry's were given.
  std::vector<std::string> given_away() const {
    std::vector<std::string> out;
    for (const auto& [url, authorization] : asked) {
      if (!same_origin(url, "https://r.example/") && !authorization.empty()) out.push_back(url);
    }
    return out;
  }

  std::string leads_to, challenge;
  bool wants_login = false, storage_challenge = false;
  std::vector<std::pair<std::string, std::string>> asked;
};

class OciTest : public testing::Test {
 protected:
  OciTest() {
    char name[] = "/tmp/mote_oci_XXXXXX";
    dir_ = ::mkdtemp(name);
    for (const char* role : {"root", "targets", "snapshot", "timestamp", "rollout"}) keys_[role] = {PrivateKey::generate("ed25519")};
    Repository repo(files_, clock_, dir_ + "/repo");
    repo.init(keys_);
    replace_file(files_, dir_ + "/kws.mpkg", "a package");
    repo.add(dir_ + "/kws.mpkg", "kws.mpkg");
    for (const char* role : {"root", "targets", "rollout"}) repo.sign(keys_[role][0]);
    repo.publish(keys_["snapshot"][0], keys_["timestamp"][0]);
    replace_file(files_, dir_ + "/auth.json", R"({"auths":{"r.example":{"auth":"dTpw"},"evil.example":{"auth":"ZTpw"}}})");
  }
  ~OciTest() override { std::filesystem::remove_all(dir_); }

  std::string push(FakeRegistry& registry) {
    RegistryLogin login(registry, files_, dir_ + "/auth.json");
    try {
      return std::to_string(push_oci(files_, registry, login, dir_ + "/repo", "oci+https://r.example/fleet"));
    } catch (const Error& e) {
      return e.what();
    }
  }

  SystemFiles files_;
  SetClock clock_;
  std::map<std::string, std::vector<PrivateKey>> keys_;
  std::string dir_;
};

TEST_F(OciTest, AnUploadThatIsLedElsewhereGetsNoPassword) {
  for (const bool wants_login : {false, true}) {
    for (const char* challenge : {"Basic realm=\"x\"\n", "Bearer realm=\"https://evil.example/token\",service=\"s\"\n"}) {
      for (const char* other :
           {"https://evil.example/upload", "http://r.example/upload", "https://r.example:8443/upload", "https://r.example.evil.example/",
            "https://r.example@evil.example/", "https://evil.example\\@r.example/"}) {
        FakeRegistry registry;
        registry.wants_login = wants_login;
        registry.storage_challenge = true;
        registry.challenge = challenge;
        registry.leads_to = other;
        const std::string said = push(registry);
        EXPECT_NE(said.find("only the registry itself"), std::string::npos) << other << ": " << said;
        EXPECT_TRUE(registry.given_away().empty()) << registry.given_away()[0];
        // The storage was really asked: what it is refused is an answer to its own challenge.
        EXPECT_EQ(registry.asked.back().first.compare(0, std::string(other).size(), other), 0) << registry.asked.back().first;
      }
    }
  }
}

// Storage that takes bytes by their address alone works, without the registry's password.
TEST_F(OciTest, StorageThatAsksForNothingIsGivenNothing) {
  FakeRegistry registry;
  registry.wants_login = true;
  registry.leads_to = "https://storage.example/upload?id=1";
  EXPECT_NE(push(registry), "0");
  EXPECT_TRUE(registry.given_away().empty());
  bool used = false, stored = false;
  for (const auto& [url, authorization] : registry.asked) {
    used |= authorization == kPassword;
    stored |= url.compare(0, 45, "https://storage.example/upload?id=1&digest=sh") == 0;
  }
  EXPECT_TRUE(used) << "the registry itself got none";
  EXPECT_TRUE(stored);
}

}  // namespace
}  // namespace mote::fleet::publish
