// mote repo: a repository of packages that devices trust (docs/fleet.md).

#include <cstdio>
#include <filesystem>

#include "mote/fleet/base/error.h"
#include "mote/fleet/base/upload.h"
#include "mote/fleet/publish/oci.h"
#include "mote/fleet/publish/repository.h"
#include "mote/tools/commands.h"
#include "mote/tools/failure.h"

namespace mote::tools {
namespace {

namespace pub = fleet::publish;

struct RepoSettings {
  std::string repo, keys, name, role, to, auth;
  std::vector<std::string> files, key_files;
  pub::Ring ring;
  pub::Lifetimes lifetimes;
  size_t threshold = 0;
};

class Work {
 public:
  explicit Work(const RepoSettings& s) : settings(s), repository(files, clock, s.repo) {}

  fleet::PrivateKey read_key(const std::string& path) {
    const auto pem = fleet::read_file(files, path, 1 << 16);
    if (!pem) throw Failure(path + " does not exist");
    return fleet::within(path, [&] { return fleet::PrivateKey::from_pem(*pem); });
  }
  // The key of a role in the folder of keys, or in a file; made where there is none.
  fleet::PrivateKey role_key(const std::string& role) { return key_at(settings.keys + "/" + role + ".pem"); }
  fleet::PrivateKey key_at(const std::string& path) {
    if (files.size(path)) return read_key(path);
    files.make_dir(fleet::folder_of(path));
    const auto key = fleet::PrivateKey::generate("ed25519");
    fleet::write_secret(files, path, key.pem());
    std::printf("made %s\n", path.c_str());
    return key;
  }
  void publish() {
    const std::string until = repository.publish(read_key(settings.keys + "/snapshot.pem"), read_key(settings.keys + "/timestamp.pem"));
    std::printf("published; fresh until %s: publish again before\n", until.c_str());
  }
  // With the key of rollout at hand, what that role says does not expire either.
  void renew_and_publish() {
    const std::string key = settings.keys + "/rollout.pem";
    if (files.size(key) && repository.renew_rollout(read_key(key))) std::printf("rollout is signed anew\n");
    publish();
  }
  void write_layout() { pub::write_oci_layout(files, settings.repo, settings.to); }
  void push() {
    const std::unique_ptr<fleet::Uploader> uploader = fleet::make_curl_uploader();
    const std::unique_ptr<fleet::Fetcher> fetcher = fleet::make_curl_fetcher();
    fleet::RegistryLogin login(*fetcher, files, settings.auth.empty() ? fleet::registry_auth_path("") : settings.auth);
    std::printf("%zu files\n", pub::push_oci(files, *uploader, login, settings.repo, settings.to));
  }
  void sign_with(const std::string& path) {
    const auto show = [](const std::string& role, const std::vector<std::string>& changes) {
      std::printf("signing the draft of %s:\n", role.c_str());
      for (const std::string& change : changes) std::printf("  %s\n", change.c_str());
      if (std::fflush(stdout) != 0) throw Failure("what is to be signed cannot be shown; nothing is signed unseen");
    };
    for (const std::string& role : repository.sign(read_key(path), show)) std::printf("%s is signed\n", role.c_str());
  }

  const RepoSettings& settings;
  fleet::SystemFiles files;
  fleet::SystemClock clock;
  pub::Repository repository;
};

void init(const RepoSettings& s) {
  Work w(s);
  std::map<std::string, std::vector<fleet::PrivateKey>> keys;
  for (const char* role : {"root", "targets", "snapshot", "timestamp", "rollout"}) keys[role] = {w.role_key(role)};
  w.repository.init(keys, s.lifetimes);
  for (const char* role : {"root", "targets", "rollout"}) w.repository.sign(keys[role][0]);
  w.publish();
}

void add(const RepoSettings& s) {
  Work w(s);
  if (!s.name.empty() && s.files.size() != 1) throw usage("--name is for one file");
  for (const std::string& file : s.files) {
    const std::string name = s.name.empty() ? std::filesystem::path(file).filename().string() : s.name;
    w.repository.add(file, name);
    std::printf("%s is in the draft of targets: sign it, then publish\n", name.c_str());
  }
}

void sign(const RepoSettings& s) {
  Work w(s);
  for (const std::string& path : s.key_files) w.sign_with(path);
}

// New keys are made where their files are missing; `--keys` is where publish will look for those of the online roles.
void rotate(const RepoSettings& s) {
  Work w(s);
  std::vector<fleet::PrivateKey> keys;
  for (const std::string& path : s.key_files) keys.push_back(w.key_at(path));
  w.repository.rotate(s.role, keys, s.threshold);
}

// What the online role says is signed and published at once, with the online keys.
template <class Change>
void change_rollout(const RepoSettings& s, Change change) {
  Work w(s);
  change(w.repository);
  w.sign_with(s.keys + "/rollout.pem");
  w.publish();
}

}  // namespace

void add_repo(CLI::App& app, Context&) {
  auto s = std::make_shared<RepoSettings>();
  CLI::App* c = app.add_subcommand("repo", "Publish packages that devices trust");
  c->require_subcommand(1);
  const auto sub = [&](const char* name, const char* help, bool keys) {
    CLI::App* out = c->add_subcommand(name, help);
    out->add_option("REPO", s->repo, "folder of the repository")->required();
    if (keys) out->add_option("--keys", s->keys, "folder with <role>.pem")->required();
    return out;
  };
  CLI::App* start = sub("init", "Make a repository, and the keys that are not there, and publish it", true);
  for (const auto& [name, days] : {std::pair("root", &s->lifetimes.root_days), std::pair("targets", &s->lifetimes.targets_days),
                                   std::pair("rollout", &s->lifetimes.rollout_days), std::pair("snapshot", &s->lifetimes.snapshot_days),
                                   std::pair("timestamp", &s->lifetimes.timestamp_days)})
    start->add_option("--" + std::string(name) + "-days", *days, "days until " + std::string(name) + " expires (kept in settings.toml)")
        ->capture_default_str();
  start->callback([s] { init(*s); });
  CLI::App* more = sub("add", "List files in the draft of targets", false);
  more->add_option("FILE", s->files, "packages, or any files")->required();
  more->add_option("--name", s->name, "target path (default: the file's name)");
  more->callback([s] { add(*s); });
  CLI::App* sign_it = sub("sign", "Sign the drafts that a key may sign", false);
  sign_it->add_option("--key", s->key_files, "private keys (PEM)")->required();
  sign_it->callback([s] { sign(*s); });
  sub("publish", "Make signed drafts public, with new snapshot and timestamp", true)->callback([s] { Work(*s).renew_and_publish(); });
  CLI::App* turn = sub("rotate", "Give a role other keys, in drafts", false);
  turn->add_option("ROLE", s->role, "root, targets, snapshot, timestamp or rollout")->required();
  turn->add_option("--key", s->key_files, "its private keys from now on (PEM); made where missing")->required();
  turn->add_option("--threshold", s->threshold, "how many of them must sign (default: all)");
  turn->callback([s] { rotate(*s); });
  CLI::App* layout = sub("oci", "Write an OCI image layout of what is public", false);
  layout->add_option("LAYOUT", s->to, "folder to write")->required();
  layout->callback([s] { Work(*s).write_layout(); });
  CLI::App* push = sub("push", "Send what is public to an OCI registry", false);
  push->add_option("URL", s->to, "oci+http://HOST/NAME or oci+https://HOST/NAME")->required();
  push->add_option("--auth", s->auth, "file with the registry's login, as `docker login` writes it (default: $MOTE_REGISTRY_AUTH)");
  push->callback([s] { Work(*s).push(); });
  CLI::App* ring = sub("ring", "Offer a package to a part of a channel's devices", true);
  ring->add_option("CHANNEL", s->ring.channel, "name of the channel")->required();
  ring->add_option("PACKAGE", s->ring.package, "target path of the package")->required();
  ring->add_option("--percent", s->ring.percent, "of the devices")->capture_default_str();
  ring->callback([s] { change_rollout(*s, [&](pub::Repository& r) { r.set_ring(s->ring); }); });
  CLI::App* halt = sub("halt", "Pause a channel's rollout: devices on their way stop where they are; ring goes on", true);
  halt->add_option("CHANNEL", s->ring.channel, "name of the channel")->required();
  halt->callback([s] { change_rollout(*s, [&](pub::Repository& r) { r.halt(s->ring.channel); }); });
  CLI::App* withdraw = sub("withdraw", "Offer nothing in a channel any more: devices on their way forget about it", true);
  withdraw->add_option("CHANNEL", s->ring.channel, "name of the channel")->required();
  withdraw->callback([s] { change_rollout(*s, [&](pub::Repository& r) { r.withdraw(s->ring.channel); }); });
}

}  // namespace mote::tools
