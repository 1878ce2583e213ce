#include "mote/fleet/store/testing/life.h"

#include <algorithm>

#include "mote/fleet/base/digest.h"

namespace mote::fleet::store {

const std::string& model_bytes(int number) {
  static const auto make = [](uint32_t n) {
    std::string out;
    for (uint32_t i = 0; i < 2500; ++i) out += static_cast<char>((i * 31 + n * 77) >> 2);
    return out;
  };
  static const std::string bytes[] = {make(0), make(1)};
  return bytes[number];
}

const Model& make_model(int number) {
  static const Model models[] = {{digest(model_bytes(0)), 2500, 5, "1.0"}, {digest(model_bytes(1)), 2500, 5, "1.1"}};
  return models[number];
}

void SimDevice::fetch(const Model& candidate, const std::string& path) {
  const std::string& bytes = model_bytes(candidate == make_model(0) ? 0 : 1);
  files_.create(path);
  for (size_t at = 0; at < bytes.size(); at += 1024) files_.write(path, at, std::string_view(bytes).substr(at, 1024));
  if (medium_damages) {
    files_.sync(path);
    dynamic_cast<SimFiles&>(files_).damage(path, 700);
  }
}

Health SimDevice::health(std::string* why) {
  *why = "golden error";
  return trial;
}

SimFiles fresh_disk(Goal goal) {
  SimFiles files;
  SimDevice device(files);
  Updater updater(files, kDir, device, {});
  updater.objects().prepare();
  const Model model = make_model(0);
  device.fetch(model, updater.objects().incoming(model.digest));
  updater.provision(model);
  if (goal == Goal::kRollback) {
    updater.offer(make_model(1));
    updater.advance();
    updater.advance();
  }
  return files.after_cut(Loss::kNothing, 0);
}

void live(SimFiles& files, Goal goal, Committed* committed, const std::function<void(const Model&, const std::string&)>& opened) {
  SimDevice device(files);
  if (goal == Goal::kFailTrial) device.trial = Health::kBad;
  if (goal == Goal::kFailProbe) device.probe_fails = "cannot be parsed";
  const auto report = [&](const Record& r) { committed->generation = std::max(committed->generation, r.generation); };
  for (int start = 0; start < 4; ++start) {
    Updater updater(files, kDir, device, {}, report);
    committed->generation = std::max(committed->generation, updater.record().generation);
    updater.boot();
    std::string path;
    const Model model = updater.open_active(&path);
    opened(model, files.read(path, 0, 1 << 20));
    if (goal == Goal::kRollback) {
      updater.rollback("a person said so");
      updater.advance();
      return;
    }
    updater.offer(make_model(1));
    if (updater.advance() != State::kTrial) return;
  }
}

}  // namespace mote::fleet::store
