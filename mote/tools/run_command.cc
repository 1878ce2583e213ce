#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <numeric>

#include "mote/platform/clock.h"
#include "mote/tools/commands.h"
#include "mote/tools/files.h"
#include "mote/tools/image.h"
#include "mote/tools/json_out.h"
#include "mote/tools/sound.h"
#include "mote/tools/text_table.h"
#include "mote/tools/values.h"

namespace mote::tools {
namespace {

struct RunSettings {
  std::string file, output, image, sound, method, weights, kernels;
  std::vector<std::string> backends;
  uint32_t threads = 1;
  std::vector<std::string> inputs;
  uint32_t top = 0;
  bool json = false;
};

// "NAME=FILE.npy". With a single input the name may be left out.
std::pair<std::string, std::string> split_input(const std::string& text, const std::vector<TensorSpec>& specs) {
  // Names may hold '=' themselves: a split that gives a known name is preferred.
  for (size_t at = text.find('='); at != std::string::npos; at = text.find('=', at + 1))
    for (const TensorSpec& s : specs)
      if (s.name == text.substr(0, at)) return {s.name, text.substr(at + 1)};
  const size_t at = text.find('=');
  if (at != std::string::npos) return {text.substr(0, at), text.substr(at + 1)};
  if (specs.size() == 1) return {specs[0].name, text};
  throw usage("--input: expected NAME=FILE.npy, found '" + text + "'");
}

std::string names_of(const std::vector<TensorSpec>& specs) {
  std::string s;
  for (const TensorSpec& t : specs) s += (s.empty() ? "" : ", ") + t.name;
  return s.empty() ? "none" : s;
}

void set_image(Session& session, uint32_t method, const RunSettings& settings, const std::vector<TensorSpec>& specs,
               std::vector<bool>* given) {
  const ImagePlan plan = plan_image(session, specs);
  session.set_input(method, plan.input, load_image(settings.image, plan));
  (*given)[plan.input] = true;
}

void set_inputs(Session& session, uint32_t method, const RunSettings& settings) {
  const std::vector<TensorSpec> specs = session.specs(method, false);
  std::vector<bool> given(specs.size());
  if (!settings.image.empty()) set_image(session, method, settings, specs, &given);
  if (!settings.sound.empty()) given[sound_input(session, method)] = true;
  for (const std::string& text : settings.inputs) {
    const auto [name, path] = split_input(text, specs);
    const auto it = std::find_if(specs.begin(), specs.end(), [&, n = name](const TensorSpec& s) { return s.name == n; });
    if (it == specs.end()) throw Failure(session.path() + ": no such input: expected one of " + names_of(specs) + ", found '" + name + "'");
    const auto index = static_cast<uint32_t>(it - specs.begin());
    if (given[index]) throw usage("input '" + name + "' is given twice");
    NpyArray array;
    std::string error;
    if (!read_npy(path, &array, &error)) throw Failure(path + ": " + error);
    session.set_input(method, index, array);
    given[index] = true;
  }
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

std::vector<std::string> labels_of(const Session& session) {
  std::vector<std::string> labels;
  const char* text = mote_program_metadata(session.program(), "labels");
  std::istringstream lines(text != nullptr ? text : "");
  for (std::string line; std::getline(lines, line);) labels.push_back(line);
  return labels;
}

std::string label(const std::vector<std::string>& labels, size_t i) { return i < labels.size() ? labels[i] : ""; }

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
                const std::vector<std::string>& labels, const std::vector<std::string>& paths) {
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
      table.add({std::to_string(b.index), label(labels, b.index), score});
    }
    std::printf("%s", table.text().c_str());
  }
}

// What a streaming program says after a run of its network: a line whenever another class of its first output is the best.
void hear(const Session& session, uint32_t method, const std::vector<TensorSpec>& specs, const RunSettings& settings, double seconds,
          Json* heard) {
  if (specs.empty()) return;
  const std::vector<Best> best = top_of(session.output(method, 0), specs[0], 1);
  if (best.empty() || (!heard->empty() && heard->back()["index"] == best[0].index)) return;
  const std::string name = label(labels_of(session), best[0].index);
  heard->push_back({{"seconds", seconds}, {"index", best[0].index}, {"label", name}, {"score", best[0].score}});
  if (!settings.json) std::printf("%8.3f s  %zu %s  %.3f\n", seconds, best[0].index, name.c_str(), best[0].score);
}

void run(const RunSettings& settings) {
  Session session(settings.file, {settings.weights, false, settings.kernels, settings.threads, settings.backends});
  const uint32_t method = session.method(settings.method);
  session.create_instance();
  set_inputs(session, method, settings);
  const std::vector<TensorSpec> specs = session.specs(method, true);
  Json heard = Json::array();
  if (settings.sound.empty()) session.own_io(method);
  const uint64_t begin = clock_now_ns();
  if (settings.sound.empty()) session.run(method);
  else run_sound(session, method, settings.sound, [&](double seconds) { hear(session, method, specs, settings, seconds, &heard); });
  const double run_us = static_cast<double>(clock_now_ns() - begin) / 1e3;
  std::vector<NpyArray> outputs;
  for (uint32_t i = 0; i < specs.size(); ++i) outputs.push_back(session.output(method, i));
  std::vector<std::string> paths;
  if (!settings.output.empty()) save_outputs(settings.output, specs, outputs, &paths);
  const std::vector<std::string> labels = labels_of(session);
  if (!settings.json) return print_text(specs, outputs, settings, labels, paths);
  Json j = {{"file", settings.file},
            {"method", mote_program_method_name(session.program(), method)},
            {"run_us", run_us},
            {"outputs", Json::array()}};
  if (!heard.empty()) j["heard"] = heard;
  for (size_t i = 0; i < specs.size(); ++i) {
    Json o = output_json(specs[i], outputs[i], settings, labels);
    if (!paths.empty()) o["path"] = paths[i];
    j["outputs"].push_back(o);
  }
  print_json(j);
}

}  // namespace

void add_run(CLI::App& app, Context& context) {
  auto s = std::make_shared<RunSettings>();
  CLI::App* c = app.add_subcommand("run", "Run a program on inputs from .npy files or an image");
  c->add_option("FILE", s->file, "program (.mote)")->required();
  c->add_option("--input,-i", s->inputs, "an input, NAME=FILE.npy; once for each; NAME may be left out when there is one")
      ->allow_extra_args(false);
  c->add_option("--output,-o", s->output, "folder for one NAME.npy per output");
  c->add_option("--image", s->image, "JPEG or PNG for the image input, prepared as the program's metadata says");
  c->add_option("--sound", s->sound, "WAV file for a program that takes samples; one compiled with --streaming hears it step by step");
  c->add_option("--top", s->top, "show the K largest values of each output, with labels")->check(CLI::PositiveNumber);
  c->add_option("--method", s->method, "method to run (default: the first)");
  c->add_option("--threads", s->threads, "threads that share the work (default 1)")->check(CLI::PositiveNumber);
  c->add_option("--kernels", s->kernels, "instruction set of the kernels (default: the best of this machine)");
  c->add_option("--backend", s->backends, "backends the program may use besides the CPU (default: all of this build); once for each")
      ->allow_extra_args(false);
  c->add_option("--weights", s->weights, "file with the program's external weights");
  c->add_flag("--json", s->json, "print JSON (docs/json.md)");
  c->footer("Example: mote run digits.mote --input image=seven.npy --top 3");
  c->callback([s, &context] {
    context.json = s->json;
    run(*s);
  });
}

}  // namespace mote::tools
