#include "mote/tools/sample_folder.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "mote/tools/files.h"
#include "mote/tools/image_doubt.h"
#include "mote/tools/model_file.h"
#include "mote/tools/npy.h"
#include "mote/tools/values.h"
#include "mote/tools/wav.h"

namespace mote::tools {
namespace fs = std::filesystem;
namespace {

using driver::Array;
using SignatureIo = driver::Signature::Io;

std::string extension_of(const std::string& path) {
  std::string e = fs::path(path).extension().string();
  std::transform(e.begin(), e.end(), e.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return e;
}
bool is_image(const std::string& e) { return e == ".jpg" || e == ".jpeg" || e == ".png"; }
bool is_data(const std::string& path) {
  const std::string e = extension_of(path);
  return e == ".npy" || e == ".wav" || is_image(e);
}

template <class T>
void put_all(const std::vector<double>& from, std::vector<uint8_t>* to) {
  to->resize(from.size() * sizeof(T));
  for (size_t i = 0; i < from.size(); ++i) {
    const T v = static_cast<T>(from[i]);
    std::memcpy(to->data() + i * sizeof(T), &v, sizeof v);
  }
}

// The array in another element type. Throws when numbers would be lost.
void convert(DType to, const std::string& path, Array* a) {
  if (a->dtype == to) return;
  const std::vector<double> numbers = driver::to_doubles(*a);
  if ((mask_of(to) & kFloat) == 0 && std::any_of(numbers.begin(), numbers.end(), [](double v) { return v != std::nearbyint(v); }))
    throw Failure(path + ": expected whole numbers (" + dtype_name(to) + "), found " + dtype_name(a->dtype));
  switch (to) {
    case DType::f32: put_all<float>(numbers, &a->data); break;
    case DType::f64: put_all<double>(numbers, &a->data); break;
    case DType::s32: put_all<int32_t>(numbers, &a->data); break;
    case DType::s64: put_all<int64_t>(numbers, &a->data); break;
    default: throw Failure(path + ": expected " + dtype_name(to) + ", found " + dtype_name(a->dtype));
  }
  a->dtype = to;
}

bool fits(const SignatureIo& io, const std::vector<int64_t>& dims) {
  if (dims.size() != io.dims[0].size()) return false;
  for (size_t i = 0; i < dims.size(); ++i) {
    int64_t least = io.dims[0][i], most = least;
    for (const std::vector<int64_t>& sample : io.dims) least = std::min(least, sample[i]), most = std::max(most, sample[i]);
    if (dims[i] < least || dims[i] > most) return false;
  }
  return true;
}

std::vector<std::string> entries_of(const std::string& folder) {
  std::error_code ec;
  std::vector<std::string> all;
  for (fs::directory_iterator it(folder, ec), end; !ec && it != end; it.increment(ec)) all.push_back(it->path().string());
  if (ec) throw Failure(folder + ": the folder cannot be read: " + ec.message());
  std::sort(all.begin(), all.end());
  return all;
}

std::string file_of(const std::string& folder, const SignatureIo& io) {
  return (fs::path(folder) / (file_name_of(io.name) + ".npy")).string();
}

}  // namespace

SampleFolder::SampleFolder(const std::string& path, const driver::Signature::Method& method, const MetadataOf& metadata, SampleRange range)
    : method_(method), metadata_(metadata), folder_(path) {
  std::error_code ec;
  if (!fs::exists(path, ec)) throw Failure(path + ": no such file or folder");
  find(path);
  if (places_.empty())
    throw Failure(path + ": no samples: expected .npy, .jpg, .png or .wav files, or a folder of NAME.npy for each sample");
  total_ = places_.size();
  if (range.skip >= places_.size())
    throw Failure(path + ": expected more than " + std::to_string(range.skip) + " samples, found " + std::to_string(places_.size()));
  places_.erase(places_.begin(), places_.begin() + static_cast<long>(range.skip));
  if (range.limit > 0 && places_.size() > range.limit) places_.resize(range.limit);
}

void SampleFolder::find(const std::string& path) {
  if (!fs::is_directory(path)) {
    const size_t parts = open(path, 0).parts;
    for (size_t i = 0; i < parts; ++i) places_.push_back({path, i});
    return;
  }
  const auto there = [&](const SignatureIo& io) { return fs::exists(file_of(path, io)); };
  if (method_.inputs.size() > 1 && std::all_of(method_.inputs.begin(), method_.inputs.end(), there)) {
    by_input_ = true;
    size_t parts = 0;
    for (size_t i = 0; i < method_.inputs.size(); ++i) {
      const size_t own = open(file_of(path, method_.inputs[i]), i).parts;
      if (i > 0 && own != parts)
        throw Failure(path + ": expected as many samples of every input, found " + std::to_string(parts) + " and " + std::to_string(own));
      parts = own;
    }
    for (size_t i = 0; i < parts; ++i) places_.push_back({path, i});
    return;
  }
  for (const std::string& entry : entries_of(path)) {
    if (fs::is_directory(entry)) {
      places_.push_back({entry, 0});
    } else if (is_data(entry)) {
      if (method_.inputs.size() != 1)
        throw Failure(entry + ": the model has " + std::to_string(method_.inputs.size()) +
                      " inputs: expected NAME.npy for each of them, or a folder of these for each sample");
      images_ |= is_image(extension_of(entry));
      const size_t parts = is_image(extension_of(entry)) ? 1 : open(entry, 0).parts;
      for (size_t i = 0; i < parts; ++i) places_.push_back({entry, i});
    }
  }
}

std::string SampleFolder::doubt() const { return images_ ? image_doubt(metadata_) : ""; }

Array SampleFolder::load(const std::string& path, size_t input) const {
  const SignatureIo& io = method_.inputs[input];
  const std::string e = extension_of(path);
  Array a;
  std::string error;
  if (is_image(e)) {
    TensorSpec spec;
    spec.name = io.name;
    spec.dtype = static_cast<mote_dtype>(io.dtype);
    spec.dims.assign(io.dims[0].begin(), io.dims[0].end());
    a = load_image(path, plan_image(path, metadata_, {spec}));
  } else if (e == ".wav") {
    std::vector<uint8_t> bytes;
    Sound sound;
    if (!read_whole_file(path, &bytes, &error) || !parse_wav(bytes, &sound, &error)) throw Failure(path + ": " + error);
    int64_t length = 1;
    for (const int64_t d : io.dims[0]) length *= d;
    const size_t pieces = (sound.samples.size() + static_cast<size_t>(length) - 1) / static_cast<size_t>(length);
    sound.samples.resize(pieces * static_cast<size_t>(length), 0);
    a.dtype = DType::f32;
    a.dims = io.dims[0];
    a.dims[0] *= static_cast<int64_t>(pieces);
    a.data.resize(sound.samples.size() * sizeof(float));
    std::memcpy(a.data.data(), sound.samples.data(), a.data.size());
  } else if (!read_npy(path, &a, &error)) {
    throw Failure(path + ": " + error);
  }
  convert(io.dtype, path, &a);
  return a;
}

// How many samples a file has: one where it fits the input, otherwise one for each index (or batch) of the first axis.
void SampleFolder::split(size_t input, File* file) const {
  const SignatureIo& io = method_.inputs[input];
  const Array& a = file->array;
  file->dims = a.dims;
  file->parts = 1;
  if (fits(io, a.dims)) return;
  if (!a.dims.empty() && a.dims.size() + 1 == io.dims[0].size()) {  // without the batch axis
    file->dims.insert(file->dims.begin(), 1);
    if (fits(io, file->dims)) return;
    file->dims = a.dims;
  }
  int64_t batch = 1;
  for (const std::vector<int64_t>& sample : io.dims) batch = sample.empty() ? 1 : sample[0];  // the last is the smallest or middle
  batch = fits(io,
               [&] {
                 std::vector<int64_t> one = a.dims;
                 if (!one.empty()) one[0] = 1;
                 return one;
               }())
              ? 1
              : batch;
  if (!a.dims.empty() && batch > 0 && a.dims[0] % batch == 0) {
    file->dims[0] = batch;
    file->parts = static_cast<size_t>(a.dims[0] / batch);
  }
  if (file->dims.empty() || !fits(io, file->dims) || file->parts == 0)
    throw Failure(file->path + ": expected samples of '" + io.name + "', " + type_text(io.dtype, io.dims[0]) + ", found " +
                  type_text(a.dtype, a.dims));
}

const SampleFolder::File& SampleFolder::open(const std::string& path, size_t input) {
  File& file = open_[input];
  if (file.path == path) return file;
  file = {path, load(path, input), {}, 0};
  split(input, &file);
  return file;
}

Array SampleFolder::part(const File& file, size_t index) const {
  Array a;
  a.dtype = file.array.dtype;
  a.dims = file.dims;
  const size_t bytes = file.array.data.size() / file.parts;
  const auto begin = file.array.data.begin() + static_cast<long>(index * bytes);
  a.data.assign(begin, begin + static_cast<long>(bytes));
  return a;
}

namespace {

bool has_nan(const Array& a) {
  if ((mask_of(a.dtype) & kFloat) == 0) return false;
  const std::vector<double> numbers = driver::to_doubles(a);
  return std::any_of(numbers.begin(), numbers.end(), [](double v) { return std::isnan(v); });
}

}  // namespace

bool SampleFolder::read(size_t index, std::vector<Array>* inputs, std::string* error) {
  const Place& place = places_[index];
  const bool folder = !by_input_ && fs::is_directory(place.path);
  inputs->clear();
  try {
    for (size_t i = 0; i < method_.inputs.size(); ++i) {
      const bool named = by_input_ || folder;
      const std::string path = named ? file_of(place.path, method_.inputs[i]) : place.path;
      inputs->push_back(part(open(path, i), place.part));
      if (has_nan(inputs->back())) {
        *error = path + ": expected numbers, found NaN in sample " + std::to_string(place.part) + " of '" + method_.inputs[i].name + "'";
        return false;
      }
    }
  } catch (const Failure& f) {
    *error = f.what();
    return false;
  }
  return true;
}

std::vector<int64_t> read_labels(const std::string& path) {
  std::vector<int64_t> labels;
  if (extension_of(path) == ".npy") {
    Array a;
    std::string error;
    if (!read_npy(path, &a, &error)) throw Failure(path + ": " + error);
    for (const double v : driver::to_doubles(a)) labels.push_back(static_cast<int64_t>(v));
    return labels;
  }
  std::vector<uint8_t> bytes;
  std::string error;
  if (!read_whole_file(path, &bytes, &error)) throw Failure(path + ": " + error);
  bytes.push_back(0);
  const char* p = reinterpret_cast<const char*>(bytes.data());
  while (*p != 0) {
    char* end = nullptr;
    const long long v = std::strtoll(p, &end, 10);
    if (end == p) throw Failure(path + ": expected a whole number in each line, found '" + std::string(p).substr(0, 20) + "'");
    labels.push_back(v);
    p = end + std::strspn(end, " \t\r\n,");
  }
  return labels;
}

}  // namespace mote::tools
