// mote-tuf: the client by itself, for interoperability tests. Exit code 0 or 1.

#include <cstdio>
#include <stdexcept>
#include <string>
#include <vector>

#include "mote/fleet/tuf/client.h"

namespace {

using namespace mote::fleet;

constexpr const char* kUsage =
    "usage: mote-tuf --metadata-dir DIR init ROOT.json\n"
    "       mote-tuf --metadata-dir DIR --metadata-url URL refresh\n"
    "       mote-tuf --metadata-dir DIR --metadata-url URL --target-name PATH [--target-name PATH ...]\n"
    "                --target-base-url URL --target-dir DIR download\n";

struct Arguments {
  std::string metadata_dir, metadata_url, target_base_url, target_dir;
  std::vector<std::string> target_names, words;
};

Arguments parse(int argc, char** argv) {
  Arguments a;
  const auto option = [&](const std::string& name, const std::string& value) {
    if (name == "--metadata-dir") return void(a.metadata_dir = value);
    if (name == "--metadata-url") return void(a.metadata_url = value);
    if (name == "--target-base-url") return void(a.target_base_url = value);
    if (name == "--target-dir") return void(a.target_dir = value);
    if (name == "--target-name") return a.target_names.push_back(value);
    throw std::invalid_argument("unknown option " + name + "\n" + kUsage);
  };
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    if (word == "--help" || word == "-h") {
      a.words = {"help"};
      return a;
    }
    if (word.compare(0, 2, "--") != 0) {
      a.words.push_back(word);
    } else if (const size_t equals = word.find('='); equals != std::string::npos) {
      option(word.substr(0, equals), word.substr(equals + 1));
    } else {
      if (++i == argc) throw std::invalid_argument(word + " needs a value\n" + kUsage);
      option(word, argv[i]);
    }
  }
  return a;
}

void require(bool there, const char* what) {
  if (!there) throw std::invalid_argument(std::string(what) + " is missing\n" + kUsage);
}

void run(const Arguments& a) {
  SystemFiles files;
  SystemClock clock;
  if (a.words == std::vector<std::string>{"help"}) return void(std::printf("%s", kUsage));
  require(!a.metadata_dir.empty(), "--metadata-dir");
  require(!a.words.empty(), "the command");
  if (a.words[0] == "init") {
    require(a.words.size() == 2, "the file of the first root");
    const auto root = read_file(files, a.words[1], tuf::ClientLimits().root_bytes);
    if (!root) throw Error(a.words[1] + " does not exist");
    return tuf::Client::init(files, a.metadata_dir, *root);
  }
  if (a.words.size() != 1 || (a.words[0] != "refresh" && a.words[0] != "download")) throw Error(kUsage);
  require(!a.metadata_url.empty(), "--metadata-url");
  const std::unique_ptr<Fetcher> fetcher = make_curl_fetcher();
  tuf::Client client(files, *fetcher, clock, a.metadata_dir, a.metadata_url);
  client.refresh();
  if (a.words[0] == "refresh") return;
  require(!a.target_names.empty(), "--target-name");
  require(!a.target_base_url.empty(), "--target-base-url");
  require(!a.target_dir.empty(), "--target-dir");
  for (const std::string& name : a.target_names) {
    const auto target = client.find(name);
    if (!target) throw Error("no role lists the target " + name);
    client.download(*target, a.target_base_url, a.target_dir);
  }
}

}  // namespace

int main(int argc, char** argv) {
  try {
    run(parse(argc, argv));
    return 0;
  } catch (const std::exception& e) {
    std::fprintf(stderr, "mote-tuf: %s\n", e.what());
    return 1;
  }
}
