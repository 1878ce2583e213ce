#pragma once

// Which products are worth 8 bits: int8 only where the target is faster with it, and only as much of it as a budget of accuracy allows.

#include "mote/compiler/quant/forecast.h"
#include "mote/compiler/quant/quantize.h"

namespace mote::quant {

struct Budget {
  double min_sqnr_db = -1;  // of every output; below 0: no limit
  double max_drop = -1;     // of accuracy, in points; below 0: no limit
  bool any() const { return min_sqnr_db >= 0 || max_drop >= 0; }
  bool holds(const Measurement& m) const;
};

// Measures of a product. Times are those of the target's cost model, for one run.
struct Choice {
  double f32_ns = -1, int8_ns = -1;  // below 0: not known
  double alone_db = -1;              // SQNR of the worst output when only this product is quantized; below 0: not measured
  std::string in_float;              // why it stays in float; empty: it is quantized
};

class Mix {
 public:
  // `quantizer` has calibrated; the mix is written into it. All are borrowed.
  Mix(Quantizer& quantizer, const frontends::Source& source, const driver::CompileOptions& compile);

  // Leaves products in float that int8 would not make faster on the target.
  bool keep_unprofitable_in_float(const Progress& progress, ir::Problems* problems);

  // Leaves the products in float that harm most for the time they save, as few as `budget` needs on `test`. *measured: before, then after.
  // True with a measurement outside the budget when no mix is inside it.
  bool meet(const Budget& budget, Samples& calibration, Samples& test, const MeasureOptions& how, const Progress& progress,
            Measurement* measured, ir::Problems* problems);

  const std::map<int, Choice>& choices() const { return choices_; }  // by the product's output
  double f32_ns() const { return f32_.ns; }
  double mix_ns() const { return mix_.ns; }  // as the products stand now

 private:
  using Trial = std::function<bool(bool* holds, ir::Problems* problems)>;  // measures the mix as it stands

  bool find_noise(Samples& samples, const Progress& progress, ir::Problems* problems);
  bool search(const Trial& trial, ir::Problems* problems);
  bool requantize_expensive(const std::vector<int>& kept, const Trial& trial, ir::Problems* problems);
  bool time_mix(Forecast* out, const Progress& progress, double fraction, ir::Problems* problems);
  double gain(int product) const;                  // nanoseconds that int8 saves
  void keep(int product, const std::string& why);  // in float; quantized when empty

  Quantizer& quantizer_;
  const frontends::Source& source_;
  const driver::CompileOptions& compile_;
  Forecast f32_, mix_;
  std::map<int, Choice> choices_;
};

}  // namespace mote::quant
