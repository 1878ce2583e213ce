// mote repo: a repository of packages that devices trust (docs/fleet.md).

#include <cstdio>
#include <filesystem>

#include "mote/fleet/base/error.h"
#include "mote/fleet/publish/repository.h"
#include "mote/tools/commands.h"
#include "mote/tools/failure.h"

namespace mote::tools {
namespace {

namespace pub = fleet::publish;

struct RepoSettings {
  std::string repo, keys, name;
  std::vector<std::string> files, key_files;
  pub::Ring ring;
  pub::Lifetimes lifetimes;
};

class Work {
 public:
  explicit Work(const RepoSettings& s) : settings(s), repository(files, clock, s.repo, s.lifetimes) {}

  fleet::PrivateKey read_key(const std::string& path) {
    const auto pem = fleet::read_file(files, path, 1 << 16);
    if (!pem) throw Failure(path + " does not exist");
    return fleet::within(path, [&] { return fleet::PrivateKey::from_pem(*pem); });
  }
  // The key of a role in the folder of keys; made where there is none.
  fleet::PrivateKey role_key(const std::string& role) {
    const std::string path = settings.keys + "/" + role + ".pem";
    if (files.size(path)) return read_key(path);
    files.make_dir(settings.keys);
    const auto key = fleet::PrivateKey::generate("ed25519");
    fleet::write_secret(files, path, key.pem());
    std::printf("made %s\n", path.c_str());
    return key;
  }
  void publish() { repository.publish(read_key(settings.keys + "/snapshot.pem"), read_key(settings.keys + "/timestamp.pem")); }
  void sign_with(const std::string& path) {
    for (const std::string& role : repository.sign(read_key(path))) std::printf("signed the draft of %s\n", role.c_str());
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
  w.repository.init(keys);
  for (const char* role : {"root", "targets", "rollout"}) w.repository.sign(keys[role][0]);
  w.publish();
}

void add(const RepoSettings& s) {
  Work w(s);
  if (!s.name.empty() && s.files.size() != 1) throw usage("--name is for one file");
  for (const std::string& file : s.files) w.repository.add(file, s.name.empty() ? std::filesystem::path(file).filename().string() : s.name);
}

void sign(const RepoSettings& s) {
  Work w(s);
  for (const std::string& path : s.key_files) w.sign_with(path);
}

// Rings and halts are signed and published at once, with the online keys.
void change_rollout(const RepoSettings& s, bool halt) {
  Work w(s);
  if (halt) w.repository.halt(s.ring.channel);
  else w.repository.set_ring(s.ring);
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
  start->add_option("--root-days", s->lifetimes.root_days, "days until root expires")->capture_default_str();
  start->add_option("--targets-days", s->lifetimes.targets_days, "days until targets expire")->capture_default_str();
  start->callback([s] { init(*s); });
  CLI::App* more = sub("add", "List files in the draft of targets", false);
  more->add_option("FILE", s->files, "packages, or any files")->required();
  more->add_option("--name", s->name, "target path (default: the file's name)");
  more->callback([s] { add(*s); });
  CLI::App* sign_it = sub("sign", "Sign the drafts that a key may sign", false);
  sign_it->add_option("--key", s->key_files, "private keys (PEM)")->required();
  sign_it->callback([s] { sign(*s); });
  sub("publish", "Make signed drafts public, with new snapshot and timestamp", true)->callback([s] { Work(*s).publish(); });
  CLI::App* ring = sub("ring", "Offer a package to a part of a channel's devices", true);
  ring->add_option("CHANNEL", s->ring.channel, "name of the channel")->required();
  ring->add_option("PACKAGE", s->ring.package, "target path of the package")->required();
  ring->add_option("--percent", s->ring.percent, "of the devices")->capture_default_str();
  ring->callback([s] { change_rollout(*s, false); });
  CLI::App* halt = sub("halt", "Stop a channel's rollout", true);
  halt->add_option("CHANNEL", s->ring.channel, "name of the channel")->required();
  halt->callback([s] { change_rollout(*s, true); });
}

}  // namespace mote::tools
