// Options of quantizing that make no sense together: said before anything is computed.

#include "mote/tools/failure.h"
#include "mote/tools/quantize_settings.h"

namespace mote::tools {
namespace {

struct Given {
  bool given;
  const char* option;
};

void refuse(std::initializer_list<Given> options, const std::string& belongs_to, const std::string& scheme) {
  for (const Given& o : options)
    if (o.given)
      throw usage(std::string(o.option) + " belongs to --quantize " + belongs_to + ", found " + (scheme.empty() ? "none" : scheme));
}

}  // namespace

void check_usage(const QuantizeSettings& s) {
  const QuantizeSettings usual;
  quant::Scheme scheme = quant::Scheme::kInt8;
  if (!s.wanted()) {
    refuse({{!s.calibrate.empty(), "--calibrate"},
            {!s.truth.empty(), "--truth"},
            {!s.test.empty(), "--test"},
            {!s.report.empty(), "--report"},
            {s.max_drop >= 0, "--max-drop"},
            {s.min_sqnr >= 0, "--min-sqnr"},
            {!s.in_float.empty(), "--keep-float"},
            {s.everywhere, "--int8-everywhere"}},
           "SCHEME", "");
    return;
  }
  if (!quant::scheme_named(s.scheme, &scheme)) throw usage("--quantize: there is no scheme called '" + s.scheme + "'");
  if (scheme != quant::Scheme::kInt4Weights)
    refuse({{s.group != usual.group, "--group"}, {s.asymmetric, "--asymmetric"}}, "int4-weights", s.scheme);
  if (!quant::is_static(scheme)) {
    refuse({{s.observer != usual.observer, "--observer"},
            {s.percentile != usual.percentile, "--percentile"},
            {s.symmetric, "--symmetric"},
            {s.no_equalise, "--no-equalise"},
            {s.no_bias, "--no-bias-correction"},
            {s.fixed_point, "--fixed-point"},
            {s.everywhere, "--int8-everywhere"},
            {!s.report.empty(), "--report"}},
           "int8 or int16x8", s.scheme);
    if (scheme != quant::Scheme::kInt8Dynamic)
      refuse({{s.smooth != usual.smooth, "--smooth"}, {s.no_pairs, "--no-weight-pairs"}}, "int8, int8-dynamic or int16x8", s.scheme);
    if ((s.min_sqnr >= 0 || s.max_drop >= 0) && s.test.empty() && s.calibrate.empty())
      throw usage("a budget needs inputs to measure on: --test DIR");
  } else if (s.calibrate.empty()) {
    throw usage("--quantize " + s.scheme + " needs typical inputs: --calibrate DIR");
  }
  if (s.percentile != usual.percentile && s.observer != "percentile")
    throw usage("--percentile belongs to --observer percentile, found --observer " + s.observer);
  if (s.max_drop >= 0 && s.truth.empty()) throw usage("--max-drop needs the right classes of --test: --truth FILE");
  if (!s.truth.empty() && s.test.empty()) throw usage("--truth needs the inputs it belongs to: --test DIR");
}

}  // namespace mote::tools
