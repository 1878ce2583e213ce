#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <numeric>

#include "mote/platform/clock.h"
#include "mote/tools/commands.h"
#include "mote/tools/files.h"
#include "mote/tools/image_doubt.h"
#include "mote/tools/input_option.h"
#include "mote/tools/json_out.h"
#include "mote/tools/program_options.h"
#include "mote/tools/progress.h"
#include "mote/tools/sound.h"
#include "mote/tools/text_table.h"
#include "mote/tools/values.h"

namespace mote::tools {
namespace {

struct RunSettings : ProgramOptions {
  std::string output, image, sound, labels;
  uint32_t top = 0;
};

void set_image(Session& session, uint32_t method, const RunSettings& settings, const std::vector<TensorSpec>& specs,
               std::vector<bool>* given) {
  const ImagePlan plan = plan_image(session, specs);
  const auto metadata = [&](const std::string& key) {
    const char* v = mote_program_metadata(session.program(), key.c_str());
    return std::string(v != nullptr ? v : "");
  };
  if (const std::string doubt = image_doubt(metadata); !doubt.empty()) Progress::say("mote: warning: " + doubt);
  session.set_input(method, plan.input, load_image(settings.image, plan));
  (*given)[plan.input] = true;
}

void set_inputs(Session& session, uint32_t method, const RunSettings& settings) {
  const std::vector<TensorSpec> specs = session.specs(method, false);
  std::vector<bool> given(specs.size());
  if (!settings.image.empty()) set_image(session, method, settings, specs, &given);
  if (!settings.sound.empty()) given[sound_input(session, method)] = true;
  set_given_inputs(session, method, settings.inputs, &given);
  for (size_t i = 0; i < specs.size(); ++i)
    if (!given[i])
      throw Failure(session.path() + ": input '" + specs[i].name + "' is missing: expected --input " + specs[i].name + "=FILE.npy, " +
                    type_text(specs[i]) + ", found nothing");
}

struct Best {
  size_t index;
  double score;
};

// The K largest values of an output, as real numbers when it is quantized. NaN comes last.
std::vector<Best> top_of(const NpyArray& array, const TensorSpec& spec, uint32_t k) {
  std::vector<double> v = to_doubles(array.dtype, array.data.data(), array.data.size());
  if (spec.quantized)
    for (double& x : v) x = (x - spec.zero_point) * spec.scale;
  std::vector<Best> all(v.size());
  for (size_t i = 0; i < v.size(); ++i) all[i] = {i, v[i]};
  const auto better = [](const Best& a, const Best& b) { return a.score == a.score && (b.score != b.score || a.score > b.score); };
  std::stable_sort(all.begin(), all.end(), better);
  all.resize(std::min<size_t>(k, all.size()));
  return all;
}

// The names of classes, from a file or from the metadata; line ends of either kind, and none at the end, count for nothing.
std::vector<std::string> labels_of(const Session& session, const RunSettings& settings) {
  const char* noted = mote_program_metadata(session.program(), "labels");
  std::string text = noted != nullptr ? noted : "";
  if (!settings.labels.empty()) {
    std::vector<uint8_t> bytes;
    std::string error;
    if (!read_whole_file(settings.labels, &bytes, &error)) throw Failure(settings.labels + ": " + error);
    text.assign(bytes.begin(), bytes.end());
  }
  while (!text.empty() && (text.back() == '\n' || text.back() == '\r')) text.pop_back();
  std::vector<std::string> labels;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    if (!line.empty() && line.back() == '\r') line.pop_back();
    labels.push_back(line);
  }
  return labels;
}

// Labels name classes, which lie along the last dimension: another number of them would put wrong names beside right scores.
bool labels_fit(const TensorSpec& spec, const std::vector<std::string>& labels) {
  return !labels.empty() && !spec.dims.empty() && static_cast<size_t>(spec.dims.back()) == labels.size();
}

// For each output its labels, or none. Where no output has as many classes as there are labels, that is said, never guessed around.
std::vector<std::vector<std::string>> output_labels(const Session& session, const std::vector<TensorSpec>& specs,
                                                    const RunSettings& settings) {
  std::vector<std::vector<std::string>> all(specs.size());
  const std::vector<std::string> labels = labels_of(session, settings);
  bool used = labels.empty();
  std::string found;
  for (size_t i = 0; i < specs.size(); ++i) {
    found += (i > 0 ? ", " : "") + ("'" + specs[i].name) + "' " + type_text(specs[i]);
    if (!labels_fit(specs[i], labels)) continue;
    all[i] = labels;
    used = true;
  }
  if (used || (settings.top == 0 && settings.sound.empty() && settings.labels.empty())) return all;
  const std::string text =
      "there are " + std::to_string(labels.size()) + " labels: expected as many as an output has classes, found " + found;
  if (!settings.labels.empty()) throw Failure(settings.labels + ": " + text);
  Progress::say("mote: warning: " + session.path() + ": " + text + "; scores are shown without them (--labels FILE gives others)");
  return all;
}

std::string label(const std::vector<std::string>& labels, size_t i) { return labels.empty() ? "" : labels[i % labels.size()]; }

std::string preview(const NpyArray& array) {
  constexpr size_t kShown = 8;
  const std::vector<double> v = to_doubles(array.dtype, array.data.data(), array.data.size());
  std::string s;
  for (size_t i = 0; i < std::min(v.size(), kShown); ++i) {
    char number[32];
    std::snprintf(number, sizeof number, "%s%.6g", i > 0 ? " " : "", v[i]);
    s += number;
  }
  return s + (v.size() > kShown ? " …" : "");
}

void save_outputs(const std::string& folder, const std::vector<TensorSpec>& specs, const std::vector<NpyArray>& outputs,
                  std::vector<std::string>* paths) {
  std::error_code ec;
  std::filesystem::create_directories(folder, ec);
  if (ec) throw Failure(folder + ": the folder cannot be created: " + ec.message());
  for (size_t i = 0; i < specs.size(); ++i) {
    const std::string path = (std::filesystem::path(folder) / (file_name_of(specs[i].name) + ".npy")).string();
    if (std::find(paths->begin(), paths->end(), path) != paths->end()) throw Failure(path + ": two outputs would be written to this file");
    std::string error;
    if (!write_npy(path, outputs[i], &error)) throw Failure(path + ": " + error);
    paths->push_back(path);
  }
}

Json output_json(const TensorSpec& spec, const NpyArray& array, const RunSettings& settings, const std::vector<std::string>& labels) {
  Json j = {{"name", spec.name}, {"dtype", dtype_name(array.dtype)}, {"dims", array.dims}};
  const std::vector<double> v = to_doubles(array.dtype, array.data.data(), array.data.size());
  if (v.size() <= 1024) j["values"] = v;
  if (settings.top > 0) {
    Json top = Json::array();
    for (const Best& b : top_of(array, spec, settings.top))
      top.push_back({{"index", b.index}, {"label", label(labels, b.index)}, {"score", b.score}});
    j["top"] = top;
  }
  return j;
}

void print_text(const std::vector<TensorSpec>& specs, const std::vector<NpyArray>& outputs, const RunSettings& settings,
                const std::vector<std::vector<std::string>>& labels, const std::vector<std::string>& paths) {
  for (size_t i = 0; i < specs.size(); ++i) {
    std::printf("%s: %s%s%s\n", specs[i].name.c_str(), type_text(outputs[i].dtype, outputs[i].dims).c_str(), paths.empty() ? "" : " -> ",
                paths.empty() ? "" : paths[i].c_str());
    if (settings.top == 0) {
      if (paths.empty()) std::printf("  %s\n", preview(outputs[i]).c_str());
      continue;
    }
    TextTable table({"index", "label", "score"});
    for (const Best& b : top_of(outputs[i], specs[i], settings.top)) {
      char score[32];
      std::snprintf(score, sizeof score, "%.6g", b.score);
      table.add({std::to_string(b.index), label(labels[i], b.index), score});
    }
    std::printf("%s", table.text().c_str());
  }
}

// What a streaming program says after a run of its network: a line whenever another class of its first output is the best.
void hear(const Session& session, uint32_t method, const std::vector<TensorSpec>& specs, const std::vector<std::string>& labels, bool quiet,
          double seconds, Progress* progress, Json* heard) {
  char stage[48];
  std::snprintf(stage, sizeof stage, "heard %.1f s of sound", seconds);
  progress->show(stage);
  if (specs.empty()) return;
  const std::vector<Best> best = top_of(session.output(method, 0), specs[0], 1);
  if (best.empty() || (!heard->empty() && heard->back()["index"] == best[0].index)) return;
  const std::string name = label(labels, best[0].index);
  heard->push_back({{"seconds", seconds}, {"index", best[0].index}, {"label", name}, {"score", best[0].score}});
  if (quiet) return;
  progress->clear();
  std::printf("%8.3f s  %zu %s  %.3f\n", seconds, best[0].index, name.c_str(), best[0].score);
}

void run(const RunSettings& settings) {
  Progress progress;
  progress.show("loading");
  Session session(settings.file, settings);
  const uint32_t method = session.method(settings.method);
  session.create_instance();
  progress.show("reading inputs");
  set_inputs(session, method, settings);
  const std::vector<TensorSpec> specs = session.specs(method, true);
  const std::vector<std::vector<std::string>> labels = output_labels(session, specs, settings);
  Json heard = Json::array();
  if (settings.sound.empty()) session.own_io(method);
  progress.show("running");
  const uint64_t begin = clock_now_ns();
  if (settings.sound.empty()) session.run(method);
  else
    run_sound(session, method, settings.sound, [&](double seconds) {
      hear(session, method, specs, labels.empty() ? std::vector<std::string>() : labels[0], settings.json, seconds, &progress, &heard);
    });
  const double run_us = static_cast<double>(clock_now_ns() - begin) / 1e3;
  std::vector<NpyArray> outputs;
  for (uint32_t i = 0; i < specs.size(); ++i) outputs.push_back(session.output(method, i));
  std::vector<std::string> paths;
  if (!settings.output.empty()) save_outputs(settings.output, specs, outputs, &paths);
  progress.clear();
  if (!settings.json) return print_text(specs, outputs, settings, labels, paths);
  Json j = {{"file", settings.file},
            {"method", mote_program_method_name(session.program(), method)},
            {"run_us", run_us},
            {"outputs", Json::array()}};
  if (!heard.empty()) j["heard"] = heard;
  for (size_t i = 0; i < specs.size(); ++i) {
    Json o = output_json(specs[i], outputs[i], settings, labels[i]);
    if (!paths.empty()) o["path"] = paths[i];
    j["outputs"].push_back(o);
  }
  print_json(j);
}

}  // namespace

void add_run(CLI::App& app, Context& context) {
  auto s = std::make_shared<RunSettings>();
  CLI::App* c = app.add_subcommand("run", "Run a program on inputs from .npy files or an image");
  add_input_options(c, s.get(), "");
  c->add_option("--output,-o", s->output, "folder for one NAME.npy per output");
  c->add_option("--image", s->image, "JPEG or PNG for the image input, prepared as the program's metadata says");
  c->add_option("--sound", s->sound, "WAV file for a program that takes samples; one compiled with --streaming hears it step by step");
  c->add_option("--top", s->top, "show the K largest values of each output, with labels")->check(CLI::PositiveNumber);
  c->add_option("--labels", s->labels, "names of the classes, one a line (default: those in the program)");
  add_program_options(c, s.get());
  c->footer("Example: mote run digits.mote --input image=seven.npy --top 3");
  c->callback([s, &context] {
    context.json = s->json;
    run(*s);
  });
}

}  // namespace mote::tools
