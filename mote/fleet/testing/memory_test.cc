// Large hostile files cost their readers no more than twice their size and a MiB.

#include <gtest/gtest.h>

#include <functional>

#include "mote/fleet/agent/config.h"
#include "mote/fleet/base/error.h"
#include "mote/fleet/base/json.h"
#include "mote/fleet/package/manifest.h"
#include "mote/fleet/testing/allocation_limit.h"
#include "mote/fleet/tuf/metadata.h"

namespace mote::fleet {
namespace {

std::string times(size_t count, const std::function<std::string(size_t)>& item, const char* between = ",") {
  std::string out;
  for (size_t i = 0; i < count; ++i) out += (i > 0 ? between : "") + item(i);
  return out;
}

std::string name(size_t i) { return "\"" + std::to_string(i) + "\""; }

template <class Work>
void expect_bounded(const std::string& what, const std::string& text, Work read) {
  for (int i = 0; i < 2; ++i) {  // what libraries keep for good they ask for once
    int64_t peak = 0;
    {
      const AllocationLimit limit(INT64_MAX);
      try {
        read(text);
      } catch (const Error&) {}
      peak = limit.peak_bytes();
    }
    EXPECT_LE(peak, static_cast<int64_t>(AllocationLimit::allowed(text.size()))) << what << " of " << text.size() << " bytes";
  }
}

class Memory : public testing::Test {
 protected:
  void SetUp() override {
    if (!AllocationLimit::available()) GTEST_SKIP() << "only a sanitizer's allocator tells what is held";
  }
};

TEST_F(Memory, Json) {
  const auto read = [](const std::string& text) { (void)Json::parse(text).canonical(); };
  expect_bounded("names", "{" + times(60'000, [](size_t i) { return name(i) + ":0"; }) + "}", read);
  expect_bounded("names backwards", "{" + times(60'000, [](size_t i) { return name(99'999 - i) + ":0"; }) + "}", read);
  expect_bounded("array", "[" + times(400'000, [](size_t) { return std::string("0"); }) + "]", read);
  expect_bounded("string", "\"" + std::string(1 << 20, 'x') + "\"", read);
  expect_bounded("escapes",
                 "\"" +
                     times(
                         100'000, [](size_t) { return std::string("\\u0041"); }, "") +
                     "\"",
                 read);
  expect_bounded("long name", "{\"" + std::string(1 << 20, 'x') + "\":0}", read);
}

std::string metadata(const std::string& type, const std::string& body, const std::string& signatures = "") {
  return "{\"signatures\":[" + signatures + "],\"signed\":{\"_type\":\"" + type +
         "\",\"expires\":\"2040-01-01T00:00:00Z\",\"spec_version\":\"1.0.34\",\"version\":1," + body + "}}";
}

void read_targets(const std::string& text) {
  const tuf::Document document(text, tuf::kTargets);
  (void)tuf::find_target(document, "a/b");
  for (const tuf::Delegation& d : tuf::delegations_for(document, "a/b")) {
    if (const auto signers = tuf::find_delegation(document, d.name))
      tuf::require_signatures(document, tuf::delegation_keys(document), *signers);
  }
}

TEST_F(Memory, Metadata) {
  const auto target = [](size_t i) { return name(i) + ":{\"hashes\":{\"sha256\":\"00\"},\"length\":1}"; };
  expect_bounded("targets", metadata("targets", "\"targets\":{" + times(15'000, target) + "}"), read_targets);
  const auto role = [](size_t i) {
    return "{\"keyids\":[],\"name\":" + name(i) + ",\"paths\":[\"*/*\"],\"terminating\":false,\"threshold\":1}";
  };
  const auto delegating = [](const std::string& roles) {
    return metadata("targets", "\"targets\":{},\"delegations\":{\"keys\":{},\"roles\":[" + roles + "]}");
  };
  expect_bounded("roles", delegating(times(12'000, role)), read_targets);
  const std::string ids = times(1'000, name);
  const auto with_ids = [&](size_t i) {
    return "{\"keyids\":[" + ids + "],\"name\":" + name(i) + ",\"paths\":[\"*/*\"],\"terminating\":false,\"threshold\":1}";
  };
  expect_bounded("key ids", delegating(times(300, with_ids)), read_targets);
  expect_bounded("a long digest",
                 metadata("targets", "\"targets\":{\"a/b\":{\"hashes\":{\"sha256\":\"" + std::string(1 << 20, '0') + "\"},\"length\":1}}"),
                 read_targets);
  expect_bounded("a long type", metadata(std::string(1 << 20, 'x'), "\"targets\":{}"), read_targets);
  const auto signature = [](size_t i) { return "{\"keyid\":" + name(i) + ",\"sig\":\"" + std::string(4000, 'a') + "\"}"; };
  expect_bounded("signatures", metadata("targets", "\"targets\":{}", times(1'000, signature)), read_targets);
  expect_bounded("meta", metadata("snapshot", "\"meta\":{" + times(20'000, [](size_t i) { return name(i) + ":{\"version\":1}"; }) + "}"),
                 [](const std::string& text) {
                   const tuf::Document document(text, tuf::kSnapshot);
                   tuf::require_no_rollback(document, document);
                 });
}

TEST_F(Memory, Manifest) {
  const auto read = [](const std::string& text) { (void)package::parse_manifest(text); };
  package::Manifest m;
  m.id = "kws";
  m.version = m.runtime_min = "1.0.0";
  m.variants = {{"a", {}}};
  m.files = {{"a", 0, 1, std::string(32, 'x')}};
  m.payload_bytes = uint64_t{20'000} << 20;
  m.chunks.assign(20'000, std::string(32, 'x'));
  const std::string text = package::manifest_text(m);
  expect_bounded("chunks", text, read);
  EXPECT_EQ(package::parse_manifest(text).chunks.size(), 20'000u);
  m.chunks.clear();
  m.payload_bytes = 1;
  m.chunks.assign(1, std::string(32, 'x'));
  m.variants.assign(256, {"a", {std::vector<std::string>(1000, "x"), std::vector<std::string>(1000, "x"), {}, {}, 0}});
  expect_bounded("operators", package::manifest_text(m), read);
  m.variants.assign(8, {"a", {std::vector<std::string>(1000, std::string(250, 'x')), {}, {}, {}, 0}});
  expect_bounded("long operators", package::manifest_text(m), read);
}

TEST_F(Memory, PolicyAndConfiguration) {
  const auto policy = [](const std::string& text) { (void)agent::parse_policy(text); };
  expect_bounded("channels", "{\"channels\":[" + times(60'000, [](size_t) { return std::string("\"\""); }) + "]}", policy);
  expect_bounded("windows", "{\"windows\":[" + times(1'000, [](size_t) { return std::string("\"* 00:00-24:00\""); }) + "]}", policy);
  const auto config = [](const std::string& text) { (void)agent::parse_config(text); };
  expect_bounded("keys",
                 times(
                     30'000, [](size_t i) { return "k" + std::to_string(i) + "=1"; }, "\n"),
                 config);
  expect_bounded("tables",
                 times(
                     30'000, [](size_t i) { return "[k" + std::to_string(i) + "]"; }, "\n"),
                 config);
  expect_bounded("strings",
                 times(
                     250, [](size_t i) { return "k" + std::to_string(i) + "=\"" + std::string(1000, 'x') + "\""; }, "\n"),
                 config);
}

}  // namespace
}  // namespace mote::fleet
