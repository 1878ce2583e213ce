#include "mote/fleet/publish/repository.h"

#include <gtest/gtest.h>

#include "mote/fleet/base/error.h"
#include "mote/fleet/testing/world.h"
#include "mote/fleet/tuf/client.h"

namespace mote::fleet::publish {
namespace {

class RepositoryTest : public testing::Test {
 protected:
  RepositoryTest() {
    for (const char* role : {"root", "targets", "snapshot", "timestamp", "rollout"})
      keys[role] = {PrivateKey::generate(role == std::string("root") ? "ecdsa-sha2-nistp256" : "ed25519")};
    keys["targets"].push_back(PrivateKey::generate("ed25519"));
    repo.init(keys);
    files.create("kws.mpkg");
    files.write("kws.mpkg", 0, "a package");
  }
  void publish() { repo.publish(keys["snapshot"][0], keys["timestamp"][0]); }
  void sign_all() {
    for (const auto& [role, list] : keys) {
      for (const PrivateKey& key : list) {
        try {
          repo.sign(key);
        } catch (const Error&) {  // nothing to sign for this one
        }
      }
    }
  }
  tuf::Client client() { return tuf::Client(files, fetcher, clock, "device", "/metadata"); }
  void start_device() { tuf::Client::init(files, "device", *read_file(files, "repo/metadata/1.root.json", 1 << 20)); }

  store::SimFiles files;
  SetClock clock;
  FolderFetcher fetcher{files, "repo"};
  Repository repo{files, clock, "repo"};
  std::map<std::string, std::vector<PrivateKey>> keys;
};

TEST_F(RepositoryTest, WhatIsPublishedIsTrusted) {
  repo.add("kws.mpkg", "kws/1.0.0.mpkg");
  repo.set_ring({"stable", "kws/1.0.0.mpkg", 10, false});
  sign_all();
  publish();
  start_device();
  tuf::Client c = client();
  c.refresh();
  const auto package = c.find("kws/1.0.0.mpkg"), ring = c.find("rollout/stable.json");
  ASSERT_TRUE(package && ring);
  EXPECT_EQ(files.read(c.download(*package, "/targets", "got"), 0, 99), "a package");
  EXPECT_NE(files.read(c.download(*ring, "/targets", "got"), 0, 999).find("\"halted\":false"), std::string::npos);
  // Halting needs the online keys only.
  repo.halt("stable");
  EXPECT_EQ(repo.sign(keys["rollout"][0]), std::vector<std::string>{"rollout"});
  // What a signature is given for can be read.
  const std::vector<std::string> changes = repo.changes("rollout");
  EXPECT_FALSE(changes.empty());
  for (const std::string& line : changes) EXPECT_TRUE(line[0] == '+' || line[0] == '-') << line;
  publish();
  tuf::Client later = client();
  EXPECT_NE(files.read(later.download(*later.find("rollout/stable.json"), "/targets", "got"), 0, 999).find("\"halted\":true"),
            std::string::npos);
}

TEST_F(RepositoryTest, NothingIsPublishedWithoutAllSignatures) {
  repo.sign(keys["root"][0]);
  repo.sign(keys["rollout"][0]);
  repo.sign(keys["targets"][0]);
  EXPECT_THROW(publish(), Error);  // the second key of targets is missing
  EXPECT_EQ(files.size("repo/metadata/timestamp.json"), std::nullopt);
  repo.sign(keys["targets"][1]);
  publish();
  EXPECT_THROW(repo.sign(keys["targets"][1]), Error);  // no draft is left
  EXPECT_THROW(repo.publish(keys["timestamp"][0], keys["timestamp"][0]), Error);
}

TEST_F(RepositoryTest, TheOnlineRoleCannotSignPackages) {
  EXPECT_THROW(repo.set_ring({"stable", "kws/none.mpkg", 10, false}), Error);
  EXPECT_THROW(repo.add("kws.mpkg", "rollout/x"), Error);
  EXPECT_THROW(repo.add("kws.mpkg", "../x"), Error);
  EXPECT_THROW(repo.init(keys), Error);
  EXPECT_THROW(repo.halt("stable"), Error);
}

// Power fails anywhere while publishing: clients see the old state or the new, and publishing again comes to its end.
TEST_F(RepositoryTest, PublishingMayStopAnywhere) {
  sign_all();
  publish();
  start_device();
  repo.add("kws.mpkg", "kws/1.0.0.mpkg");
  sign_all();
  const store::SimFiles ready = files.after_cut(store::Loss::kNothing, 0);
  for (uint64_t n = 0;; ++n) {
    store::SimFiles disk = ready;
    disk.cut_at(n);
    Repository cut(disk, clock, "repo");
    try {
      cut.publish(keys["snapshot"][0], keys["timestamp"][0]);
      break;
    } catch (const store::PowerCut&) {}
    for (const store::Loss loss : {store::Loss::kNothing, store::Loss::kUnsynced, store::Loss::kReordered}) {
      files = disk.after_cut(loss, static_cast<uint32_t>(n));
      tuf::Client before = client();
      ASSERT_NO_THROW(before.refresh()) << n;
      ASSERT_NO_THROW(publish()) << n;
      tuf::Client after = client();
      ASSERT_TRUE(after.find("kws/1.0.0.mpkg")) << n;
    }
  }
}

// Time: a clock that was set back does not revive what has expired; one that runs ahead does not spoil the future.
TEST_F(RepositoryTest, TimeNeverGoesBack) {
  sign_all();
  publish();
  start_device();
  const int64_t published = clock.time;
  client().refresh();
  clock.time += 10 * 365 * 86400LL;  // ten years ahead: everything has expired
  EXPECT_THROW(client().refresh(), Error);
  clock.time = published + 2 * 86400;
  EXPECT_NO_THROW(client().refresh());
  clock.time = 0;  // 1970: believed to be two days after publishing at least
  EXPECT_NO_THROW(client().refresh());
  const std::string first_timestamp = *read_file(files, "repo/metadata/timestamp.json", 9999);
  clock.time = published + 4 * 86400;
  publish();
  EXPECT_NO_THROW(client().refresh());
  files.remove("device/timestamp.json");  // even who lost what was trusted
  replace_file(files, "repo/metadata/timestamp.json", first_timestamp);
  clock.time = published;  // is not told that it is still the first day
  EXPECT_THROW(client().refresh(), Error);
}

TEST_F(RepositoryTest, EveryRoleCanBeGivenOtherKeys) {
  repo.add("kws.mpkg", "kws/1.0.0.mpkg");
  repo.set_ring({"stable", "kws/1.0.0.mpkg", 10, false});
  sign_all();
  publish();
  start_device();
  client().refresh();
  for (const char* role : {"root", "targets", "snapshot", "timestamp", "rollout"}) {
    const std::vector<PrivateKey> old = keys[role];
    const std::vector<PrivateKey> next = {PrivateKey::generate("ed25519"), PrivateKey::generate("ecdsa-sha2-nistp256")};
    const std::vector<PrivateKey> used =
        role == std::string("snapshot") || role == std::string("timestamp") ? std::vector<PrivateKey>{next[0]} : next;
    repo.rotate(role, used);
    if (role == std::string("root")) {
      for (const PrivateKey& key : used) repo.sign(key);
      EXPECT_THROW(publish(), Error);  // the old keys have not vouched for the new ones
    }
    keys[role] = used;
    sign_all();
    if (role == std::string("root")) {
      for (const PrivateKey& key : old) repo.sign(key);
    }
    publish();
    tuf::Client c = client();
    ASSERT_NO_THROW(c.refresh()) << role;
    EXPECT_TRUE(c.find("kws/1.0.0.mpkg") && c.find("rollout/stable.json")) << role;
    if (role != std::string("root")) {
      EXPECT_THROW(repo.sign(old[0]), Error) << role;
    }
  }
}

TEST_F(RepositoryTest, AsManySignaturesAsTheThresholdSays) {
  sign_all();
  publish();
  std::vector<PrivateKey> three;
  for (int i = 0; i < 3; ++i) three.push_back(PrivateKey::generate("ed25519"));
  EXPECT_THROW(repo.rotate("targets", three, 4), Error);
  repo.rotate("targets", three, 2);
  keys["targets"] = {three[2]};
  sign_all();
  EXPECT_THROW(publish(), Error);
  repo.sign(three[0]);
  EXPECT_NO_THROW(publish());
}

TEST_F(RepositoryTest, PublishingRenewsRolloutInTime) {
  sign_all();
  publish();
  EXPECT_FALSE(repo.renew_rollout(keys["rollout"][0]));
  clock.time += 8 * 86400;
  EXPECT_FALSE(repo.renew_rollout(keys["root"][0]));
  EXPECT_TRUE(repo.renew_rollout(keys["rollout"][0]));
  EXPECT_FALSE(repo.renew_rollout(keys["rollout"][0]));  // on its way
  publish();
  const tuf::Document rollout(*read_file(files, "repo/metadata/2.rollout.json", 1 << 20), tuf::kTargets);
  EXPECT_EQ((rollout.expires() - clock.now()) / 86400, 14);
}

TEST_F(RepositoryTest, LifetimesStay) {
  Repository other(files, clock, "other");
  other.init(keys, {100, 50, 5, 4, 2});
  Repository again(files, clock, "other");
  again.add("kws.mpkg", "kws.mpkg");
  for (const auto& [role, list] : keys) {
    for (const PrivateKey& key : list) {
      if (role != "snapshot" && role != "timestamp") again.sign(key);
    }
  }
  again.publish(keys["snapshot"][0], keys["timestamp"][0]);
  const auto days = [&](const std::string& file, const char* type) {
    const tuf::Document document(*read_file(files, "other/metadata/" + file, 1 << 20), type);
    return (document.expires() - clock.now()) / 86400;
  };
  EXPECT_EQ(days("1.root.json", tuf::kRoot), 100);
  EXPECT_EQ(days("1.targets.json", tuf::kTargets), 50);
  EXPECT_EQ(days("1.snapshot.json", tuf::kSnapshot), 4);
  EXPECT_EQ(days("timestamp.json", tuf::kTimestamp), 2);
  replace_file(files, "other/settings.toml", "root_days = 0\n");
  EXPECT_THROW(Repository(files, clock, "other"), Error);
}

// Shown first, then signed: the bytes that were shown, whatever lies there by then; and nothing where showing failed.
TEST_F(RepositoryTest, WhatIsSignedWasShownBefore) {
  sign_all();
  publish();
  repo.add("kws.mpkg", "kws/1.0.0.mpkg");
  const std::string path = "repo/draft/targets.json", unsigned_draft = *read_file(files, path, 1 << 20);
  EXPECT_THROW(repo.sign(keys["targets"][0], [](const auto&, const auto&) { throw Error("nobody looks"); }), Error);
  EXPECT_EQ(*read_file(files, path, 1 << 20), unsigned_draft);
  std::vector<std::string> shown;
  repo.sign(keys["targets"][0], [&](const std::string& role, const std::vector<std::string>& changes) {
    EXPECT_EQ(role, "targets");
    EXPECT_EQ(*read_file(files, path, 1 << 20), unsigned_draft);
    shown = changes;
    repo.add("kws.mpkg", "kws/6.6.6.mpkg");  // another draft takes its place meanwhile
  });
  EXPECT_EQ(shown, repo.changes("targets"));
  for (const std::string& line : shown) EXPECT_EQ(line.find("6.6.6"), std::string::npos) << line;
  EXPECT_EQ(read_file(files, path, 1 << 20)->find("6.6.6"), std::string::npos);
}

}  // namespace
}  // namespace mote::fleet::publish
