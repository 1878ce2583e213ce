#pragma once

// Post-training quantization: observe a float model over data, choose 8-bit numbers for its tensors, compile it with them, and measure
// what that costs. docs/quantization.md tells users.

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "mote/compiler/driver/compile.h"
#include "mote/compiler/quant/measure.h"
#include "mote/compiler/quant/observer.h"
#include "mote/compiler/quant/recipe.h"
#include "mote/compiler/quant/samples.h"

namespace mote::quant {

// Says what cannot be quantized; false.
inline bool fail(ir::Problems* problems, const std::string& what, const std::string& advice = "") {
  problems->push_back({"quantize", what, advice});
  return false;
}

using Texts = std::vector<std::pair<std::string, std::string>>;

struct Options {
  Observer observer = Observer::kAuto;
  double percentile = 99.99;
  bool symmetric = false;          // activations with zero point 0
  float smooth = 0.5f;             // smooth.h; 0: off
  bool wide = false;               // and 16 bits (int16x8); with symmetric alone
  bool pairs = true;               // limit sums of neighbouring weights (codes.h), for AVX2's pairwise multiply
  bool fixed_point = false;        // requantize with integers alone, as TFLite does; always with 16 bits
  bool adaptive_rounding = true;   // rounding.h
  bool bias_correction = true;     // rounding.h
  bool equalise = true;            // equalise.h
  bool weight_scales = true;       // scales of weights for the least squared error instead of the largest weight
  std::set<std::string> in_float;  // nodes of the model to leave alone
};

// A product of the model.
struct ProductInfo {
  int id = 0, input_id = 0;  // of its output and input
  int result_id = 0;         // of the tensor that is made of its output within the same integer operator
  std::string name, op;
  int64_t weight_count = 0;
  bool dynamic = false;  // the model quantizes its input while running
};

class Quantizer {
 public:
  // `compile`: how the program is to be compiled. Both are borrowed.
  Quantizer(const frontends::Source& source, const driver::CompileOptions& compile, const Options& options);
  ~Quantizer();

  // Runs the float model over the samples once, and decides. False with what is wrong in *problems.
  bool calibrate(Samples& samples, const Progress& progress, ir::Problems* problems);

  // The quantized program as calibrate() decided. `evidence` goes into the file.
  bool compile(const Texts& evidence, driver::CompileResult* out, ir::Problems* problems) const;

  // The data that calibrate() used and the choices it made, for the file's evidence.
  Texts evidence() const;

  // How the program is compiled. Borrows this.
  driver::CompileOptions program_options() const;

  // Products (by output) to leave in float from now on; keep_dynamic: with the dynamic quantization the model gives them.
  void set_in_float(const std::set<int>& products) { recipe_.in_float = products; }
  void set_keep_dynamic(bool on) { recipe_.keep_dynamic = on; }
  // The program takes and gives 8-bit numbers where the model has f32 (driver/narrow_io.h).
  void set_narrow_io(bool on) { narrow_io_ = on; }

  // The float model, showing `values`, and the quantized one.
  bool build_float(const std::set<int>& values, Probe* out, ir::Problems* problems) const;
  bool build_quantized(const Recipe& recipe, const std::set<int>& values, Probe* out, ir::Problems* problems) const;

  // True when the model quantizes inputs of products while running: then it is not the float model.
  bool is_dynamic() const;

  // Runs float model and quantized model side by side.
  bool measure(Samples& samples, const MeasureOptions& options, const Progress& progress, Measurement* out, ir::Problems* problems) const;

  const std::vector<ProductInfo>& products() const { return products_; }
  const std::map<int, TensorStats>& stats() const { return stats_; }
  const Recipe& recipe() const { return recipe_; }
  const std::vector<std::string>& warnings() const { return warnings_; }
  const std::string& fingerprint() const { return fingerprint_; }  // SHA-256 over the calibration inputs
  size_t sample_count() const { return samples_; }

 private:
  struct Work;  // what calibrate() keeps of the graph while it runs

  using SampleCallback = std::function<void(const std::vector<driver::Array>& inputs)>;
  bool run_all(Probe& probe, Samples& samples, const Progress& progress, const std::string& stage, const SampleCallback& look,
               ir::Problems* problems) const;
  bool find_factors(Samples& samples, const Progress& progress, ir::Problems* problems);
  bool observe(Samples& samples, const Progress& progress, Work* work, ir::Problems* problems);
  std::map<int, Grid> grids_for(const Work& work, Observer observer, double percentile);
  bool choose_ranges(const Work& work, Samples& samples, const Progress& progress, ir::Problems* problems);
  bool narrow(ir::Graph& graph, std::string* error) const;
  bool correct_means(Samples& samples, const Progress& progress, ir::Problems* problems);  // means.cc
  void choose_weights(const Work& work, const Progress& progress);

  const frontends::Source& source_;
  const driver::CompileOptions& compile_;
  const Options options_;
  std::vector<ProductInfo> products_;
  std::map<int, TensorStats> stats_;
  Recipe recipe_;
  std::vector<std::string> warnings_;
  std::string fingerprint_, chosen_;  // chosen_: the observer
  size_t samples_ = 0;
  bool narrow_io_ = false;
};

}  // namespace mote::quant
