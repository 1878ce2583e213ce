#include "mote/fleet/base/registry_login.h"

#include <gtest/gtest.h>

#include "mote/fleet/base/fetch_oci.h"
#include "mote/fleet/store/testing/sim_files.h"

namespace mote::fleet {
namespace {

// A registry and its realm: remembers what was asked for, with which header.
class Registry : public Fetcher {
 public:
  FetchReply get(const FetchRequest& request, const Sink& sink) override {
    asked.emplace_back(request.url, request.authorization);
    if (request.url.find("/token") != std::string::npos) {
      sink.data(R"({"token":"t)" + std::to_string(++tokens) + R"(","expires_in":60})");
      return {};
    }
    if (!leads_to.empty() && request.url.find("/blobs/") != std::string::npos) throw HttpError("401", 401, challenge, leads_to);
    if (request.authorization != wanted) throw HttpError("401", 401, challenge, request.url);
    if (request.url.find("/manifests/") != std::string::npos)
      sink.data(R"({"layers":[{"digest":"sha256:)" + std::string(64, 'a') + "\"}]}");
    else sink.data("bytes");
    return {};
  }
  std::string wanted, challenge, leads_to;
  std::vector<std::pair<std::string, std::string>> asked;
  int tokens = 0;
};

class LoginTest : public testing::Test {
 protected:
  LoginTest() { replace_file(files, "auth.json", R"({"auths":{"https://r.example/v1/":{"auth":"dTpw"},"helper.example":{}}})"); }

  std::string fetch(const std::string& scheme = "https") {
    auto owned = std::make_unique<Registry>(registry);
    Registry* const server = owned.get();
    const auto fetcher = make_oci_fetcher(std::move(owned), files, "auth.json");
    std::string out;
    try {
      out = fetch_bytes(*fetcher, "oci+" + scheme + "://r.example/fleet/metadata/timestamp.json", 100);
    } catch (const Error& e) {
      out = e.what();
    }
    registry.asked = server->asked;
    return out;
  }

  store::SimFiles files;
  Registry registry;
};

TEST_F(LoginTest, BasicAndOnlyWhenAsked) {
  EXPECT_EQ(fetch(), "bytes");
  for (const auto& item : registry.asked) EXPECT_EQ(item.second, "");
  registry.asked.clear();
  registry.wanted = "Basic dTpw";
  registry.challenge = "Negotiate\nBasic realm=\"x\"\n";
  EXPECT_EQ(fetch(), "bytes");
  EXPECT_EQ(registry.asked.size(), 3u);  // refused, manifest, blob
}

TEST_F(LoginTest, TokenOfTheRealmThatIsNamed) {
  registry.wanted = "Bearer t1";
  registry.challenge = "Bearer realm=\"https://a.example/token\", service=\"s 1\",scope=\"repository:fleet:pull\"\n";
  EXPECT_EQ(fetch(), "bytes");
  EXPECT_EQ(registry.asked[1].first, "https://a.example/token?service=s%201&scope=repository%3Afleet%3Apull");
  EXPECT_EQ(registry.asked[1].second, "Basic dTpw");
}

// CVE-2020-15157: the host that a registry redirects to asks for a login, and is given the registry's.
TEST_F(LoginTest, OnlyTheRegistryItselfIsGivenItsPassword) {
  for (const char* challenge : {"Basic realm=\"x\"\n", "Bearer realm=\"https://evil.example/token\",service=\"s\"\n"}) {
    for (const char* other :
         {"https://evil.example/blob", "http://r.example/blob", "https://r.example:8443/blob", "https://r.example.evil.example/",
          "https://u@r.example/", "https://r.example@evil.example/", "https://evil.example\\@r.example/"}) {
      registry.challenge = challenge;
      registry.leads_to = other;
      const std::string said = fetch();
      EXPECT_NE(said.find("only the registry itself"), std::string::npos) << other << ": " << said;
      for (const auto& [url, authorization] : registry.asked) EXPECT_EQ(authorization, "") << url;
    }
  }
  registry.leads_to.clear();
  registry.wanted = "Basic dTpw";
  registry.challenge = "Basic realm=\"x\"\n";
  EXPECT_EQ(fetch(), "bytes");
}

TEST(Login, OriginsAreSchemeHostAndPort) {
  EXPECT_TRUE(same_origin("https://r.example/a", "https://R.example:443/b?c"));
  EXPECT_TRUE(same_origin("http://[::1]:5000/a", "http://[::1]:5000"));
  for (const char* other :
       {"http://r.example/", "https://r.example:444/", "https://x.r.example/", "r.example", "", "https://r.example\\.evil/"})
    EXPECT_FALSE(same_origin("https://r.example/a", other)) << other;
}

TEST_F(LoginTest, RefusalsSayWhyWithoutTheSecret) {
  registry.wanted = "something else";
  registry.challenge = "Basic realm=\"x\"\n";
  EXPECT_NE(fetch().find("refuses the login"), std::string::npos);
  EXPECT_NE(fetch("http").find("refuses the login"), std::string::npos);
  registry.challenge = "Negotiate\n";
  EXPECT_NE(fetch().find("neither Basic nor Bearer"), std::string::npos);
  registry.challenge = "Bearer realm=\"http://a.example/token\"\n";
  EXPECT_NE(fetch().find("plain HTTP"), std::string::npos);
  replace_file(files, "auth.json", R"({"auths":{"other.example":{"auth":"dTpw"}}})");
  registry.challenge = "Basic realm=\"x\"\n";
  EXPECT_NE(fetch().find("auth.json has none for it"), std::string::npos);
  replace_file(files, "auth.json", R"({"auths":{"r.example":{"auth":"c2VjcmV0"}}})");  // no colon in it
  const std::string said = fetch();
  EXPECT_NE(said.find("not base64 of user:password"), std::string::npos);
  EXPECT_EQ(said.find("c2Vj"), std::string::npos);
}

TEST(Challenge, Forms) {
  EXPECT_FALSE(parse_challenge("Basic realm=x").token);
  EXPECT_EQ(parse_challenge("bearer Realm=https://a/t,error=\"x, \\\"y\\\"\",SERVICE=s").service, "s");
  for (const char* bad : {"", "Digest x=y", "Bearer", "Bearer realm", "Bearer realm=\"x", "Bearer realm=\"a b\"", "Bearer service=s"})
    EXPECT_THROW(parse_challenge(bad), Error) << bad;
  EXPECT_EQ(parse_token(R"({"access_token":"a.b"})"), "a.b");
  for (const char* bad : {"{}", R"({"token":""})", R"({"token":"a\nX-Y: z"})", R"({"token":5})"})
    EXPECT_THROW(parse_token(bad), Error) << bad;
}

}  // namespace
}  // namespace mote::fleet
