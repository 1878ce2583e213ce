#include "mote/tools/least_squares.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace mote::tools {
namespace {

constexpr int kRounds = 20000;
constexpr double kStill = 1e-10;

}  // namespace

// One unknown after the other, each as good as it can be with the others as they are, none below 0. The sum of squares falls in each step.
std::vector<double> relative_least_squares(const std::vector<std::vector<double>>& rows, const std::vector<double>& results) {
  const size_t n = rows.empty() ? 0 : rows[0].size();
  std::vector<std::vector<double>> a = rows;
  for (size_t i = 0; i < a.size(); ++i)
    for (double& v : a[i]) v /= results[i];
  std::vector<double> scale(n, 0), x(n, 0), left(a.size(), 1.0);
  for (const auto& row : a)
    for (size_t k = 0; k < n; ++k) scale[k] += row[k] * row[k];
  for (int round = 0; round < kRounds; ++round) {
    double moved = 0;
    for (size_t k = 0; k < n; ++k) {
      if (scale[k] == 0) continue;
      double slope = 0;
      for (size_t i = 0; i < a.size(); ++i) slope += a[i][k] * left[i];
      const double next = std::max(0.0, x[k] + slope / scale[k]), step = next - x[k];
      if (step == 0) continue;
      for (size_t i = 0; i < a.size(); ++i) left[i] -= a[i][k] * step;
      moved = std::max(moved, std::fabs(step) * std::sqrt(scale[k]));
      x[k] = next;
    }
    if (moved < kStill) break;
  }
  return x;
}

}  // namespace mote::tools
