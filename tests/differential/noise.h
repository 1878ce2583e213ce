#pragma once

// How much rounding matters to a graph: its reference program is run again while the results of every operator that rounds are moved by a
// few units in the last place, at random. What the outputs then move is what another order of the same sums may move them; a value that is
// rounded to a code, compared or sorted may fall to the other side. (Stochastic arithmetic: Vignes' CESTAC method, with a larger unit.)

#include <string>
#include <vector>

#include "mote/compiler/driver/run.h"

namespace mote::differential {

// The largest of some trials' distances from the outputs without noise, element by element. Infinite where a trial had other sizes, a NaN
// or an infinity. False when a run fails. `more`: many more trials, for what
// few do not explain.
bool measure_spread(ConstBytes reference, const std::vector<driver::Array>& inputs, const std::vector<driver::Array>& outputs,
                    std::vector<std::vector<double>>* spread, std::string* error, bool more = false);

}  // namespace mote::differential
