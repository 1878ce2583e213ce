#include "mote/bindings/python/src/image.h"

#include <cstring>
#include <new>

#include "mote/bindings/python/src/backends.h"

namespace mote::python {
namespace {

constexpr size_t kAlignment = 16;

std::vector<const char*> texts_of(const std::vector<std::string>& names) {
  std::vector<const char*> texts;
  for (const std::string& name : names) texts.push_back(name.c_str());
  return texts;
}

template <class Open>
std::shared_ptr<const Image> open(std::shared_ptr<Image> image, const OpenOptions& options, Open open_program) {
  std::vector<std::string> allowed;
  const std::shared_ptr<mote_registry> registry = registry_with(options.backends, &allowed);
  const std::vector<const char*> backends = texts_of(allowed), require = texts_of(options.require);
  mote_open_options o{};
  o.struct_size = sizeof o;
  if (options.verify_digests) o.flags |= MOTE_OPEN_VERIFY_DIGESTS;
  if (!options.fallback) o.flags |= MOTE_OPEN_NO_FALLBACK;
  o.backends = backends.empty() ? nullptr : backends.data();
  o.backend_count = static_cast<uint32_t>(backends.size());
  o.require = require.empty() ? nullptr : require.data();
  o.require_count = static_cast<uint32_t>(require.size());
  o.registry = registry.get();
  o.weights_path = options.weights.empty() ? nullptr : options.weights.c_str();
  o.memory_limit_bytes = options.memory_limit;
  const ErrorHandle error{mote_error_create()};
  mote_program* program = nullptr;
  mote_status status;
  {
    const Unlocked unlocked(true);
    status = open_program(&o, &program, error.get());
  }
  if (status != 0) {
    Error e = make_error(status, error.get());
    if (!image->path.empty()) e.message = image->path + ": " + e.message;
    raise(e);
  }
  image->program.reset(program);
  return image;
}

// A buffer that Python owns, given back when the last program is gone.
std::shared_ptr<const void> keep(Py_buffer* view) {
  return {view, [](Py_buffer* v) {
            const nb::gil_scoped_acquire locked;
            PyBuffer_Release(v);
            delete v;
          }};
}

}  // namespace

std::shared_ptr<const Image> open_path(const std::string& path, const OpenOptions& options) {
  auto image = std::make_shared<Image>();
  image->path = path;
  return open(image, options, [&](const mote_open_options* o, mote_program** out, mote_error* error) {
    return mote_program_open_file(path.c_str(), o, out, error);
  });
}

std::shared_ptr<const Image> open_owned(std::shared_ptr<const void> owner, const uint8_t* data, size_t size, const OpenOptions& options) {
  auto image = std::make_shared<Image>();
  image->owner = std::move(owner);
  image->data = data;
  image->size = size;
  return open(image, options, [&](const mote_open_options* o, mote_program** out, mote_error* error) {
    return mote_program_open_memory(data, size, o, out, error);
  });
}

std::shared_ptr<const Image> open_buffer(nb::object buffer, const OpenOptions& options) {
  auto* view = new Py_buffer;
  if (PyObject_GetBuffer(buffer.ptr(), view, PyBUF_SIMPLE) != 0) {
    delete view;
    raise_python();
  }
  std::shared_ptr<const void> owner = keep(view);
  const auto* data = static_cast<const uint8_t*>(view->buf);
  const auto size = static_cast<size_t>(view->len);
  if (view->readonly == 0 || reinterpret_cast<uintptr_t>(data) % kAlignment != 0) {
    std::shared_ptr<uint8_t> copy(static_cast<uint8_t*>(::operator new (size + 1, std::align_val_t{kAlignment})),
                                  [](uint8_t* p) { ::operator delete (p, std::align_val_t{kAlignment}); });
    if (size > 0) std::memcpy(copy.get(), data, size);
    data = copy.get();
    owner = std::move(copy);
  }
  return open_owned(std::move(owner), data, size, options);
}

}  // namespace mote::python
