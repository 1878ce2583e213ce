#include "mote/ops/arg_min/arg_min.h"

#include "mote/ops/testing/arg_reduce_cases.h"

namespace mote::optest {

TEST(OpArgMin, EveryTypeShapeAndAttribute) { check_arg(OpId::arg_min, types_of(ops::arg_min::Types{}), -1); }

TEST(OpArgMin, NanIsTheExtreme) { check_arg_nan(OpId::arg_min); }

TEST(OpArgMin, Refuses) { check_arg_refusals(OpId::arg_min); }

}  // namespace mote::optest
