#pragma once

// Calibration and test data from a folder:
//   *.npy               one sample each, or several along the first axis
//   NAME.npy            for models with several inputs, one file for each of them, samples along the first axis
//   SAMPLE/NAME.npy     or a folder for each sample
//   *.jpg *.jpeg *.png  images, prepared as the metadata says (image.h)
//   *.wav               sounds for an input (..., LENGTH), cut into pieces of that length
// Files are taken in the order of their names and read one at a time; numbers become the input's element type.

#include <map>

#include "mote/compiler/driver/golden.h"
#include "mote/compiler/quant/samples.h"
#include "mote/tools/image.h"

namespace mote::tools {

// Samples to take: all from `skip` on, or `limit` of them.
struct SampleRange {
  size_t skip = 0, limit = 0;
};

class SampleFolder : public quant::Samples {
 public:
  // Throws Failure when something in the folder (or the one file) cannot be read, or nothing is there.
  SampleFolder(const std::string& path, const driver::Signature::Method& method, const MetadataOf& metadata, SampleRange range);

  size_t count() const override { return places_.size(); }
  size_t total() const { return total_; }  // in the folder, whatever the range takes
  bool read(size_t index, std::vector<driver::Array>* inputs, std::string* error) override;

  // What makes the data doubtful before it is read: images of which nobody said how they are prepared. Empty: nothing.
  std::string doubt() const;

 private:
  // A file of samples of one input.
  struct File {
    std::string path;
    driver::Array array;        // dense, in the input's element type
    std::vector<int64_t> dims;  // of one sample
    size_t parts = 0;
  };
  // Where a sample lies: part of a file, or a folder.
  struct Place {
    std::string path;
    size_t part = 0;
  };
  void find(const std::string& path);
  const File& open(const std::string& path, size_t input);
  driver::Array part(const File& file, size_t index) const;
  void split(size_t input, File* file) const;
  driver::Array load(const std::string& path, size_t input) const;

  const driver::Signature::Method method_;
  const MetadataOf metadata_;
  std::string folder_;
  size_t total_ = 0;
  bool by_input_ = false;  // NAME.npy for each input
  bool images_ = false;
  std::vector<Place> places_;
  std::map<size_t, File> open_;  // the last file of each input
};

// Whole numbers: a .npy file, or a text file with one a line. Throws Failure.
std::vector<int64_t> read_labels(const std::string& path);

}  // namespace mote::tools
