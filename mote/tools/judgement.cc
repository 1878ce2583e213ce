#include "mote/tools/judgement.h"

#include <cstdio>

#include "mote/compiler/driver/kernel_check.h"
#include "mote/tools/values.h"

namespace mote::tools {

std::string Judgement::text() const {
  std::string out = tolerance > 0 ? "largest error within " + real(tolerance) + " of the largest value" : "the same bits";
  if (floor > 0) out += ", or " + real(floor);
  return least_db > 0 ? out + "; or SQNR of " + decibels(least_db) + " dB" : out;
}

Judgement judgement_of(double tolerance, double sqnr_db, bool quantized) {
  Judgement j;
  if (quantized) j.least_db = kQuantizedDb;
  if (tolerance >= 0) j = {tolerance, 0, 0};
  if (sqnr_db >= 0) j.least_db = sqnr_db;
  return j;
}

bool agrees(const driver::Array& found, const driver::Array& expected, const Judgement& j) {
  const driver::Difference d = driver::difference(found, expected);
  if (!d.same_type) return false;
  const bool is_float = (mask_of(found.dtype) & kFloat) != 0;
  if (d.identical || (is_float && d.within(j.tolerance))) return true;
  if (is_float && !d.specials_differ && d.largest_error <= j.floor) return true;
  return j.least_db > 0 && !d.specials_differ && d.sqnr_db >= j.least_db;
}

std::string how_it_judges() {
  const Judgement j;
  const auto text = [](double v) {
    char s[32];
    std::snprintf(s, sizeof s, "%g", v);
    return std::string(s);
  };
  return "How it judges:\n"
         "  outputs    Element type and sizes as the reference has them, NaN and infinities in the same places. Floats: the largest error "
         "is\n"
         "             at most " +
         text(j.tolerance) + " of the largest expected value, or " + text(j.floor) +
         " absolute. Integers: the same bits. Programs of\n"
         "             quantized ONNX models, and those with --io int8, are right too where the signal to error ratio is at least " +
         text(kQuantizedDb) +
         " dB,\n"
         "             against ONNX Runtime with its optimisations or without.\n"
         "  --tolerance T  in place of both numbers, and the " +
         text(kQuantizedDb) +
         " dB count no more; 0: the same bits.\n"
         "  --sqnr D   a ratio of D dB is enough for any output, beside the tolerance; 0: the ratio does not count.\n"
         "  kernels    Every set of kernels this machine runs is held against the reference in the same way; the default one gives the "
         "same\n"
         "             bits on two threads.\n"
         "  operators  Each fast kernel beside the portable one on the same operands, whatever the options say: f32 within " +
         text(driver::kKernelTolerance) +
         " of the\n"
         "             largest value plus " +
         text(driver::kKernelCancelled) + " of the product of the operands' largest ones; f16 and bf16 within " +
         text(driver::kKernelHalfTolerance) +
         " and that;\n"
         "             integers the same bits, or one off where the operator computes them from floats.\n"
         "  evidence   (--calibrate, --test) Words, digests and counts of samples the same, other numbers within " +
         text(kEvidenceTolerance) + " of themselves, or of 1\n             where they are below 1.";
}

}  // namespace mote::tools
