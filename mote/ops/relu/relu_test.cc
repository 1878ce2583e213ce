#include "mote/ops/relu/relu.h"

#include "mote/ops/testing/elementwise_cases.h"

namespace mote::optest {

TEST(OpRelu, MatchesOracle) {
  check_unary(OpId::relu, NoAttrs{}, ops::relu::Types{}, [](double x) { return x < 0 ? 0 : x; });
}

}  // namespace mote::optest
