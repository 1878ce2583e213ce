#pragma once

#include <vector>

namespace mote::tools {

// The x >= 0 for which rows * x come nearest to the results, each seen relative to itself. All rows have the same length; results are above
// 0.
std::vector<double> relative_least_squares(const std::vector<std::vector<double>>& rows, const std::vector<double>& results);

}  // namespace mote::tools
