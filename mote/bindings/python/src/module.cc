// The extension module mote._mote. mote/__init__.py and its neighbours make the package of it.

#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/vector.h>

#include "mote/bindings/python/src/backends.h"
#include "mote/bindings/python/src/bound.h"
#include "mote/bindings/python/src/compile.h"
#include "mote/bindings/python/src/custom_ops.h"
#include "mote/bindings/python/src/describe.h"
#include "mote/bindings/python/src/graph_view.h"
#include "mote/bindings/python/src/program.h"

namespace mote::python {
namespace {

// A method of a program, to be called.
struct Method {
  nb::object owner;
  Program* program;
  uint32_t index;
};

// Lets other threads stop a run.
struct Cancel {
  CancelHandle handle{mote_cancel_create()};
};

PyObject* call_program(PyObject* self, PyObject* args, PyObject* names) {
  return guarded([&] {
    Program* p = nb::inst_ptr<Program>(self);
    const uint32_t method = p->find_method("");
    return p->call(method, &PyTuple_GET_ITEM(args, 0), static_cast<size_t>(PyTuple_GET_SIZE(args)), names, {});
  });
}

PyObject* call_method(PyObject* self, PyObject* args, PyObject* names) {
  return guarded([&] {
    const Method* m = nb::inst_ptr<Method>(self);
    return m->program->call(m->index, &PyTuple_GET_ITEM(args, 0), static_cast<size_t>(PyTuple_GET_SIZE(args)), names, {});
  });
}

PyObject* call_bound(PyObject* self, PyObject* args, PyObject* names) {
  return guarded([&]() -> PyObject* {
    if (PyTuple_GET_SIZE(args) != 0 || names != nullptr) {
      PyErr_SetString(PyExc_TypeError, "bound buffers are the arguments: expected none, write into .inputs");
      return nullptr;
    }
    return nb::inst_ptr<Bound>(self)->call();
  });
}

PyType_Slot kProgramSlots[] = {{Py_tp_call, reinterpret_cast<void*>(&call_program)}, {0, nullptr}};
PyType_Slot kMethodSlots[] = {{Py_tp_call, reinterpret_cast<void*>(&call_method)}, {0, nullptr}};
PyType_Slot kBoundSlots[] = {{Py_tp_call, reinterpret_cast<void*>(&call_bound)}, {0, nullptr}};

void bind_image(nb::module_& m) {
  nb::class_<Image>(m, "Image")
      .def_ro("path", &Image::path)
      .def_ro("size", &Image::size)
      .def("data", [](const Image& i) { return nb::bytes(i.data, i.size); })
      .def("metadata", [](const Image& i, const std::string& key) -> nb::object {
        const char* text = mote_program_metadata(i.program.get(), key.c_str());
        return text != nullptr ? nb::object(nb::str(text)) : nb::none();
      });
}

void bind_program(nb::module_& m) {
  nb::class_<Cancel>(m, "Cancel").def(nb::init<>()).def("request", [](Cancel& c) { mote_cancel_request(c.handle.get()); });
  nb::class_<Program>(m, "Program", nb::type_slots(kProgramSlots), nb::is_weak_referenceable())
      .def(
          "__init__",
          [](Program* self, std::shared_ptr<const Image> image, uint64_t memory_limit, uint32_t threads, const std::string& kernels) {
            new (self) Program(std::move(image), {memory_limit, threads, kernels});
          },
          nb::arg("image"), nb::arg("memory_limit") = 0, nb::arg("threads") = 1, nb::arg("kernels") = "")
      .def_prop_ro("image", [](const Program& p) { return p.shared_image(); })
      .def_prop_ro("allocated_bytes", &Program::allocated_bytes)
      .def_prop_ro("method_names", &method_names)
      .def("input_specs", &input_specs, nb::arg("method") = "")
      .def("output_specs", &output_specs, nb::arg("method") = "")
      .def("describe", &describe)
      .def("golden_records", &golden_records)
      .def_prop_ro("parts", &parts)
      .def_prop_ro("degraded", &degraded)
      .def("self_test", &self_test)
      .def("reset_state", &Program::reset_state, "Sets the state tensors to their first values.")
      .def(
          "method",
          [](nb::handle self, const std::string& name) {
            auto* p = nb::inst_ptr<Program>(self);
            return Method{nb::borrow(self), p, p->find_method(name)};
          },
          nb::arg("name"))
      .def(
          "call_with",
          [](Program& p, nb::tuple args, nb::dict names, const std::string& method, double timeout_us, uint32_t max_steps,
             const Cancel* cancel) {
            const mote_cancel* stop = cancel != nullptr ? cancel->handle.get() : nullptr;
            PyObject** first = &PyTuple_GET_ITEM(args.ptr(), 0);
            return nb::steal(p.call(p.find_method(method), first, args.size(), names.ptr(), {timeout_us, max_steps, stop}));
          },
          nb::arg("args"), nb::arg("names"), nb::arg("method") = "", nb::arg("timeout_us") = 0.0, nb::arg("max_steps") = 0,
          nb::arg("cancel") = nb::none())
      .def(
          "empty_inputs", [](Program& p, const std::string& method) { return p.empty(p.find_method(method), false); },
          nb::arg("method") = "")
      .def(
          "empty_outputs", [](Program& p, const std::string& method) { return p.empty(p.find_method(method), true); },
          nb::arg("method") = "")
      .def("set_inputs", [](Program& p, nb::tuple inputs, const std::string& method) { p.set_inputs(p.find_method(method), inputs); })
      .def("time_runs", [](Program& p, const std::string& method, uint64_t runs, double seconds) {
        return p.time_runs(p.find_method(method), runs, seconds);
      });
}

void bind_method(nb::module_& m) {
  nb::class_<Method>(m, "Method", nb::type_slots(kMethodSlots)).def_prop_ro("name", [](const Method& x) {
    return x.program->methods()[x.index].name;
  });
  nb::class_<Bound>(m, "Bound", nb::type_slots(kBoundSlots))
      .def(
          "__init__",
          [](Bound* self, nb::handle program, const std::string& method, nb::tuple inputs, nb::tuple outputs) {
            auto* p = nb::cast<Program*>(program);
            new (self) Bound(nb::borrow(program), *p, p->find_method(method), std::move(inputs), std::move(outputs));
          },
          nb::arg("program"), nb::arg("method"), nb::arg("inputs"), nb::arg("outputs"))
      .def_prop_ro("inputs", &Bound::inputs)
      .def_prop_ro("outputs", &Bound::outputs);
}

void bind_open(nb::module_& m) {
  // A dict of what open_program() in mote/_program.py collects.
  const auto read = [](nb::dict given) {
    OpenOptions o;
    o.weights = nb::cast<std::string>(given["weights"]);
    o.verify_digests = nb::cast<bool>(given["verify_digests"]);
    o.memory_limit = nb::cast<uint64_t>(given["memory_limit"]);
    o.backends = nb::cast<std::vector<std::string>>(given["backends"]);
    o.require = nb::cast<std::vector<std::string>>(given["require"]);
    o.fallback = nb::cast<bool>(given["fallback"]);
    return o;
  };
  m.def(
      "open_path", [=](const std::string& path, nb::dict options) { return open_path(path, read(std::move(options))); }, nb::arg("path"),
      nb::arg("options"));
  m.def(
      "open_buffer", [=](nb::object buffer, nb::dict options) { return open_buffer(std::move(buffer), read(std::move(options))); },
      nb::arg("buffer"), nb::arg("options"));
}

}  // namespace
}  // namespace mote::python

NB_MODULE(_mote, m) {
  // Operators of the user's own live as long as the process, and so does what their functions refer to: no leak.
  nanobind::set_leak_warnings(false);
  m.doc() = "Mote's runtime and compiler. Use the package mote.";
  m.attr("version") = mote_version();
  m.def("kernel_names", [] {
    std::vector<std::string> names;
    for (uint32_t i = 0; mote_kernels_name(i) != nullptr; ++i) names.emplace_back(mote_kernels_name(i));
    return names;
  });
  mote::python::bind_image(m);
  mote::python::bind_program(m);
  mote::python::bind_method(m);
  mote::python::bind_open(m);
  mote::python::bind_backends(m);
  mote::python::bind_compile(m);
  mote::python::bind_custom_ops(m);
  mote::python::bind_graph(m);
}
