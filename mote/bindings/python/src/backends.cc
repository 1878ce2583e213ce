#include "mote/bindings/python/src/backends.h"

#include <nanobind/stl/vector.h>

#include "mote/api/backends.hpp"
#include "mote/bindings/python/src/custom_ops.h"

namespace mote::python {
namespace {

nb::list backend_info(const std::vector<std::string>& names) {
  std::vector<std::string> allowed;
  const std::shared_ptr<mote_registry> registry = registry_with(names, &allowed);
  nb::list all;
  for (const BackendInfo& b : api_detail::backends_of(registry.get())) {
    nb::dict d;
    d["name"] = b.name;
    d["version"] = b.version;
    d["device"] = b.device;
    d["units"] = b.units;
    all.append(d);
  }
  return all;
}

}  // namespace

std::shared_ptr<mote_registry> registry_with(const std::vector<std::string>& backends, std::vector<std::string>* allowed) {
  std::vector<std::string> loaded;
  for (const std::string& name : backends)
    if (name != "cpu") loaded.push_back(name);
  if (loaded.empty()) return current_registry();
  std::shared_ptr<mote_registry> registry = new_registry();
  if (const Error e = api_detail::load_backends(registry.get(), loaded, allowed)) raise(e);
  return registry;
}

void bind_backends(nb::module_& m) { m.def("backend_info", &backend_info, nb::arg("names")); }

nb::list parts(const Program& program) {
  nb::list all;
  for (const Part& p : api_detail::parts_of(program.image().program.get(), program.instance())) {
    nb::dict d;
    d["backend"] = p.backend;
    d["runs_on"] = p.runs_on;
    d["instructions"] = p.instructions;
    d["has_fallback"] = p.has_fallback;
    d["bytes_in"] = p.bytes_in;
    d["bytes_out"] = p.bytes_out;
    d["device_bytes"] = p.device_bytes;
    d["predicted_us"] = p.predicted_us;
    all.append(d);
  }
  return all;
}

std::string degraded(const Program& program) {
  const ErrorHandle why{mote_error_create()};
  return mote_instance_degraded(program.instance(), why.get()) != 0 ? mote_error_message(why.get()) : "";
}

// In an instance of its own: the program's is bound to the caller's arrays.
nb::dict self_test(const Program& program) {
  const InstanceHandle instance = program.make_instance();
  SelfTest found;
  {
    const Unlocked unlocked(true);
    found = api_detail::self_test(instance.get());
  }
  if (!found.passed() && found.failed == 0) raise(found.error);
  nb::dict d;
  d["outputs"] = found.outputs;
  d["failed"] = found.failed;
  d["largest_error"] = found.largest_error;
  d["passed"] = found.passed();
  d["message"] = found.error.message;
  return d;
}

}  // namespace mote::python
