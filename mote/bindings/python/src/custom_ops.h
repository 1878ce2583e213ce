#pragma once

// Operators of the user's own, under symbolic names, for every program compiled or opened after their registration.

#include <memory>

#include "mote/api/values.hpp"
#include "mote/bindings/python/src/failure.h"

namespace mote::python {

// All that are registered; null while there are none.
std::shared_ptr<mote_registry> current_registry();

// A new one of them all, which takes more.
std::shared_ptr<mote_registry> new_registry();

// Binds mote._mote.add_custom_ops, register_custom_op and custom_op_names.
void bind_custom_ops(nb::module_& m);

}  // namespace mote::python
