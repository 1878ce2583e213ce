#include "mote/tools/model_file.h"

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "mote/compiler/frontends/common/other_formats.h"
#include "mote/platform/file.h"
#include "mote/tools/failure.h"
#include "mote/tools/npy.h"
#include "mote/tools/text_table.h"

namespace mote::tools {
namespace fs = std::filesystem;
namespace {

NpyArray load(const fs::path& path) {
  NpyArray array;
  std::string error;
  if (!read_npy(path.string(), &array, &error)) throw Failure(path.string() + ": " + error);
  return array;
}

std::vector<fs::path> entries_of(const fs::path& folder) {
  std::error_code ec;
  std::vector<fs::path> all;
  for (fs::directory_iterator it(folder, ec), end; !ec && it != end; it.increment(ec)) all.push_back(it->path());
  if (ec) throw Failure(folder.string() + ": the folder cannot be read: " + ec.message());
  std::sort(all.begin(), all.end());
  return all;
}

bool is_npy(const fs::path& path) { return path.extension() == ".npy"; }

// What a folder in place of a model is, and what to type instead.
std::string folder_text(const std::string& path) {
  std::vector<std::string> names;
  std::string text = path + ": expected a model file, found a folder";
  for (const fs::path& entry : entries_of(path)) {
    names.push_back(entry.filename().string());
    const std::string extension = entry.extension().string();
    if (extension == ".onnx" || extension == ".tflite" || extension == ".pt2" || extension == ".pte")
      return text + "; in it is a model: " + entry.string();
  }
  const frontends::OtherFormat* format = frontends::other_format_of_folder(path, names);
  return format == nullptr ? text : text + " (" + format->what + "); " + frontends::advice_for(*format, path);
}

}  // namespace

frontends::Source open_model(const std::string& path) {
  std::error_code ec;
  const fs::file_status status = fs::status(path, ec);
  if (!fs::exists(status)) throw Failure(path + ": no such file");
  if (fs::is_directory(status)) throw Failure(folder_text(path));
  const auto file = std::make_shared<MappedFile>();
  if (const Status s = MappedFile::open(path.c_str(), file.get()); !s.ok())
    throw Failure(path + ": the model cannot be opened: " + why_text(s.why()), s.bits());
  if (file->bytes().size == 0) throw Failure(path + ": the file is empty");
  return {path, {file, file->bytes().data, file->bytes().size}};
}

std::vector<driver::GivenExample> read_examples(const std::string& folder) {
  std::vector<driver::GivenExample> all;
  if (!fs::is_directory(folder)) throw Failure(folder + ": expected a folder of examples");
  for (const fs::path& entry : entries_of(folder)) {
    driver::GivenExample example;
    if (fs::is_directory(entry)) {
      for (const fs::path& file : entries_of(entry))
        if (is_npy(file)) example[file.stem().string()] = load(file);
    } else if (is_npy(entry)) {
      example[""] = load(entry);
    }
    if (!example.empty()) all.push_back(std::move(example));
  }
  if (all.empty()) throw Failure(folder + ": no examples: expected .npy files, or a folder of them for each example");
  return all;
}

void check_output_path(const std::string& path, const std::string& model) {
  std::error_code ec;
  if (fs::equivalent(path, model, ec)) throw usage(path + ": the program would overwrite the model");
  if (fs::is_directory(path, ec)) throw Failure(path + ": expected a file to write, found a folder");
  fs::path folder = fs::path(path).parent_path();
  if (folder.empty()) folder = ".";
  if (!fs::is_directory(folder, ec)) throw Failure(path + ": the folder '" + folder.string() + "' does not exist");
  // Better to know before a long compilation. The probe is the file that writing begins with.
  const std::string probe = path + ".tmp";
  const bool writable = std::ofstream(probe, std::ios::app).good();
  fs::remove(probe, ec);
  if (!writable) throw Failure(path + ": the folder '" + folder.string() + "' cannot be written to");
}

std::string problems_text(const std::string& model, const ir::Problems& problems) {
  TextTable table({"where", "what", "what to do"});
  for (const ir::Problem& p : problems) table.add({one_line(p.where), one_line(p.what), one_line(p.advice)});
  const std::string count = problems.size() == 1 ? "1 problem stands" : number(problems.size()) + " problems stand";
  return model + ": the model cannot be compiled: " + count + " in the way\n" + table.text();
}

}  // namespace mote::tools
