#include "mote/ops/arg_max/arg_max.h"

#include "mote/ops/testing/arg_reduce_cases.h"

namespace mote::optest {

TEST(OpArgMax, EveryTypeShapeAndAttribute) { check_arg(OpId::arg_max, types_of(ops::arg_max::Types{}), 1); }

TEST(OpArgMax, NanIsTheExtreme) { check_arg_nan(OpId::arg_max); }

TEST(OpArgMax, Refuses) { check_arg_refusals(OpId::arg_max); }

}  // namespace mote::optest
