#include "mote/bindings/python/src/program.h"

#include <algorithm>

#include "mote/bindings/python/src/new_array.h"
#include "mote/bindings/python/src/numpy.h"

namespace mote::python {
namespace {

Spec spec_of(const mote_tensor_info& info) {
  Spec s;
  s.name = info.name;
  s.stored = info.dtype;
  s.in_bank = info.in_bank != 0;
  s.quantized = info.quantized != 0;
  s.scale = info.scale;
  s.zero_point = info.zero_point;
  s.bytes = info.bytes;
  s.dynamic = info.dynamic;
  const uint32_t bits = mote_dtype_bits(info.dtype);
  if (bits >= 8) {
    s.dtype = info.dtype;
    s.rank = static_cast<int32_t>(info.rank);
    std::copy(info.dims, info.dims + info.rank, s.dims);
  } else {
    // Two elements to a byte: an array of the bytes.
    if (info.dynamic != 0) raise(MOTE_UNSUPPORTED, "'" + s.name + "' has 4-bit elements and open sizes: Python has no array for it");
    s.dtype = MOTE_U8;
    s.rank = 1;
    s.dims[0] = static_cast<int32_t>(info.bytes);
  }
  s.item_bytes = mote_dtype_bits(s.dtype) / 8;
  s.shape = nb::steal(PyTuple_New(s.rank));
  for (int32_t i = 0; i < s.rank; ++i) PyTuple_SET_ITEM(s.shape.ptr(), i, PyLong_FromLong(s.dims[i]));
  s.numpy_dtype = numpy().dtype(s.dtype);
  return s;
}

// What the program's evidence says of the element type (SPEC.md, 11).
void read_element(const mote_program* p, const std::string& method, bool output, Spec* s) {
  const std::string wanted = (output ? "element.output." : "element.input.") + method + "." + s->name;
  for (uint32_t i = 0; i < mote_program_evidence_count(p); ++i) {
    const char *key = "", *value = "";
    check(mote_program_evidence_at(p, i, &key, &value), nullptr);
    if (wanted == key && mote_dtype_bits(s->dtype) == 8) s->element = value;
  }
  if (!s->element.empty()) s->numpy_dtype = numpy().dtype_of_codes(s->element, s->dtype);
}

// Handing the GIL over costs little, getting it back behind a busy thread up to its switch interval (5 ms): programs that are done within
// some microseconds keep it. Portable kernels need about a nanosecond for a multiply-add.
bool is_tiny(const mote_program* program) {
  mote_certificate c{};
  c.struct_size = sizeof c;
  check(mote_program_certificate(program, &c), nullptr);
  constexpr double kTinyNs = 10000;
  return 30.0 * c.steps_bound + 1.0 * static_cast<double>(c.macs) + 0.5 * static_cast<double>(c.bytes_moved) < kTinyNs;
}

}  // namespace

Program::Program(std::shared_ptr<const Image> image, const InstanceOptions& options)
    : image_(std::move(image)), options_(options), tiny_(is_tiny(image_->program.get())) {
  instance_ = make_instance();
  read_methods();
}

InstanceHandle Program::make_instance() const {
  mote_instance_options o{};
  o.struct_size = sizeof o;
  const uint64_t used = mote_program_allocated_bytes(image_->program.get()), limit = options_.memory_limit;
  if (limit > 0 && used >= limit)
    raise(MOTE_OUT_OF_MEMORY, "the program takes " + std::to_string(used) +
                                  " bytes before it has an instance: expected a memory limit above that, found " + std::to_string(limit));
  o.memory_limit_bytes = limit > 0 ? limit - used : 0;
  o.threads = options_.threads;
  o.kernels = options_.kernels.empty() ? nullptr : options_.kernels.c_str();
  const ErrorHandle error{mote_error_create()};
  mote_instance* instance = nullptr;
  check(mote_instance_create(image_->program.get(), &o, &instance, error.get()), error.get());
  return InstanceHandle(instance);
}

void Program::read_methods() {
  mote_program* p = image_->program.get();
  mote_tensor_info info{};
  for (uint32_t m = 0; m < mote_program_method_count(p); ++m) {
    MethodSpec spec;
    spec.name = mote_program_method_name(p, m);
    for (uint32_t i = 0; i < mote_program_input_count(p, m); ++i) {
      info.struct_size = sizeof info;
      check(mote_program_input_info(p, m, i, &info), nullptr);
      spec.inputs.push_back(spec_of(info));
      read_element(p, spec.name, false, &spec.inputs.back());
    }
    for (uint32_t i = 0; i < mote_program_output_count(p, m); ++i) {
      info.struct_size = sizeof info;
      check(mote_program_output_info(p, m, i, &info), nullptr);
      spec.outputs.push_back(spec_of(info));
      read_element(p, spec.name, true, &spec.outputs.back());
    }
    methods_.push_back(std::move(spec));
  }
  binders_.assign(methods_.size(), nullptr);
}

uint64_t Program::allocated_bytes() const {
  return mote_program_allocated_bytes(image_->program.get()) + mote_instance_allocated_bytes(instance_.get());
}

uint32_t Program::find_method(const std::string& name) const {
  if (methods_.empty()) raise(MOTE_NOT_FOUND, "the program has no method");
  std::string names;
  for (uint32_t i = 0; i < methods_.size(); ++i) {
    if (name.empty() || methods_[i].name == name) return i;
    names += (i > 0 ? ", " : "") + methods_[i].name;
  }
  raise(MOTE_NOT_FOUND, "no such method: expected one of " + names + ", found '" + name + "'");
}

nb::list Program::empty(uint32_t method, bool outputs) const {
  const nb::object zeros = nb::module_::import_("numpy").attr("zeros");
  nb::list all;
  for (const Spec& s : outputs ? methods_[method].outputs : methods_[method].inputs) all.append(zeros(s.shape, s.numpy_dtype));
  return all;
}

void Program::reset_state() {
  const Use use(*this);
  check(mote_instance_reset_state(instance_.get()), nullptr);
}

void Program::set_inputs(uint32_t method, nb::tuple inputs) {
  const MethodSpec& m = methods_[method];
  if (inputs.size() != m.inputs.size()) raise(MOTE_INVALID_ARGUMENT, "the number of inputs is wrong");
  const Use use(*this);
  for (uint32_t i = 0; i < m.inputs.size(); ++i) {
    ArrayView view;
    view.take(inputs[i].ptr(), m.inputs[i], ArrayView::kRead);
    int32_t dims[MOTE_MAX_RANK];
    for (int32_t k = 0; k < view.rank; ++k) dims[k] = static_cast<int32_t>(view.dims[k]);
    if (m.inputs[i].dynamic != 0)
      check(mote_instance_set_input_dims(instance_.get(), method, i, dims, static_cast<uint32_t>(view.rank), error_.get()), error_.get());
    check(mote_instance_set_input(instance_.get(), method, i, view.data, view.bytes, error_.get()), error_.get());
  }
  check(mote_instance_own_io(instance_.get(), method, error_.get()), error_.get());
}

std::vector<uint64_t> Program::time_runs(uint32_t method, uint64_t runs, double seconds) {
  const Use use(*this);
  const Unlocked unlocked(true);
  std::vector<uint64_t> times;
  const uint64_t begin = mote_clock_ns();
  mote_status status = 0;
  while (status == 0 && times.size() < runs) {
    const uint64_t start = mote_clock_ns();
    status = mote_instance_run(instance_.get(), method, nullptr, error_.get());
    const uint64_t end = mote_clock_ns();
    times.push_back(end - start);
    if (seconds > 0 && times.size() >= 10 && static_cast<double>(end - begin) > seconds * 1e9) break;
  }
  if (status != 0) times.clear();  // run() says why
  return times;
}

Program::Use::Use(Program& program) : program_(program) {
  const std::thread::id self = std::this_thread::get_id();
  if (program_.owner_.load(std::memory_order_relaxed) == self)
    raise(MOTE_BUSY, "the program is running: an operator cannot run the program it is part of; clone() makes another one");
  if (!program_.mutex_.try_lock()) {
    const Unlocked unlocked(true);
    program_.mutex_.lock();
  }
  program_.owner_.store(self, std::memory_order_relaxed);
}

void Program::Use::bind_input(uint32_t method, uint32_t index, const Spec& spec, const ArrayView& view) const {
  if (spec.dynamic != 0) {
    int32_t dims[MOTE_MAX_RANK];
    for (int32_t i = 0; i < view.rank; ++i) dims[i] = static_cast<int32_t>(view.dims[i]);
    check(mote_instance_set_input_dims(instance(), method, index, dims, static_cast<uint32_t>(view.rank), error()), error());
  }
  check(spec.in_bank ? mote_instance_set_input(instance(), method, index, view.data, view.bytes, error())
                     : mote_instance_bind_input(instance(), method, index, view.data, view.bytes, error()),
        error());
}

void Program::Use::bind_output(uint32_t method, uint32_t index, const Spec& spec, void* data, uint64_t bytes) const {
  if (!spec.in_bank) check(mote_instance_bind_output(instance(), method, index, data, bytes, error()), error());
}

void Program::Use::fetch(uint32_t method, uint32_t index, const Spec& spec, void* data, uint64_t bytes) const {
  if (spec.in_bank) check(mote_instance_get_output(instance(), method, index, data, bytes, nullptr, error()), error());
}

void Program::Use::run(uint32_t method, const RunLimits& limits) const {
  mote_run_options o{};
  o.struct_size = sizeof o;
  o.max_steps = limits.max_steps;
  if (limits.timeout_us > 0) o.deadline_ns = mote_clock_ns() + static_cast<uint64_t>(limits.timeout_us * 1e3);
  o.cancel = limits.cancel;
  mote_status status;
  {
    const Unlocked unlocked(!program_.tiny_);
    status = mote_instance_run(instance(), method, &o, error());
  }
  if (PyErr_Occurred()) raise_python();
  if (status != 0) raise(make_error(status, error()));
}

}  // namespace mote::python
