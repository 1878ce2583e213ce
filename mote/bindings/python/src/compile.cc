#include "mote/bindings/python/src/compile.h"

#include <nanobind/stl/map.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include "mote/bindings/python/src/array_view.h"
#include "mote/bindings/python/src/compile_call.h"
#include "mote/bindings/python/src/image.h"
#include "mote/compiler/frontends/torch/torch.h"
#include "mote/tools/failure.h"
#include "mote/tools/model_file.h"

namespace mote::python {
namespace {

namespace exporter = frontends::torch;

// A Python object that the compiler keeps on any thread.
std::shared_ptr<const void> keep(nb::handle object) {
  return {object.inc_ref().ptr(), [](PyObject* o) {
            const nb::gil_scoped_acquire locked;
            Py_DECREF(o);
          }};
}

nb::dict compile_path(const std::string& path, nb::dict settings) {
  CompileCall call(std::move(settings));
  return call.run(tools::open_model(path));
}

nb::dict compile_bytes(const std::string& name, nb::bytes bytes, nb::dict settings) {
  CompileCall call(std::move(settings));
  return call.run({name, {keep(bytes), static_cast<const uint8_t*>(bytes.data()), bytes.size()}});
}

exporter::TensorData tensor_data(nb::handle tensor, size_t index) {
  ArrayView view;
  exporter::TensorData d;
  uint64_t extent = 0;
  view.take_strided(tensor.ptr(), "tensor " + std::to_string(index), &d.strides, &extent);
  d.dtype = static_cast<DType>(view.dtype());
  d.shape.assign(view.dims, view.dims + view.rank);
  d.bytes = {keep(tensor), static_cast<const uint8_t*>(view.data), extent};
  return d;
}

using Method = std::tuple<std::string, std::string, std::map<std::string, size_t>>;  // name, json, tensors

nb::dict compile_exported(const std::vector<Method>& methods, nb::list tensors, const std::vector<std::string>& custom_ops,
                          nb::dict settings) {
  exporter::ExportedModel model;
  for (const auto& [name, json, names] : methods) model.methods.push_back({name, json, {}, names});
  for (size_t i = 0; i < tensors.size(); ++i) model.tensors.push_back(tensor_data(tensors[i], i));
  model.custom_ops.insert(custom_ops.begin(), custom_ops.end());
  frontends::Source source;
  source.path = methods.empty() ? "module" : std::get<0>(methods[0]);
  source.format = "torch.export";
  if (!methods.empty()) {
    const std::string& json = std::get<1>(methods[0]);
    source.bytes = ir::Bytes::copy_of(json.data(), json.size());
  }
  source.import = [&](const frontends::ImportOptions& options, ir::Graph& graph, ir::Problems* problems) {
    return exporter::import_exported(model, options, graph, problems);
  };
  CompileCall call(std::move(settings));
  return call.run(source);
}

}  // namespace

void bind_compile(nb::module_& m) {
  nb::register_exception_translator([](const std::exception_ptr& p, void*) {
    try {
      std::rethrow_exception(p);
    } catch (const tools::Failure& e) {
      (void)guarded([&]() -> PyObject* { raise(e.status() != 0 ? mote_status_code(e.status()) : MOTE_INVALID_ARGUMENT, e.what()); });
    }
  });
  m.def("compile_path", &compile_path, nb::arg("path"), nb::arg("settings"));
  m.def("compile_bytes", &compile_bytes, nb::arg("name"), nb::arg("data"), nb::arg("settings"));
  m.def("compile_exported", &compile_exported, nb::arg("methods"), nb::arg("tensors"), nb::arg("custom_ops"), nb::arg("settings"));
  m.def("pass_names", &passes::pass_names);
  m.def("exported_operators", &exporter::supported_operators);
}

}  // namespace mote::python
