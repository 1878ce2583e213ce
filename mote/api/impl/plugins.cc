// Backends from libraries of their own. Where one may come from is decided here alone: this library, its folder, or an absolute path.

#include <cstring>

#include "mote/api/impl/error.h"
#include "mote/api/impl/options.h"
#include "mote/api/impl/registry.h"
#include "mote/backends/plugin/plugin_check.h"
#include "mote/platform/file.h"
#include "mote/platform/library.h"

// The backends that were linked in (MOTE_LINK_BACKENDS).
#define MOTE_LINKED(name) extern "C" const mote_backend_plugin* mote_linked_##name(void);
#include "mote_linked_backends.inc"
#undef MOTE_LINKED

namespace mote::api {
namespace {

const char kLoad[] = "load the backend";
constexpr size_t kPathBytes = 1024;
constexpr size_t kNameBytes = 48;

struct LinkedBackend {
  const char* name;
  mote_backend_plugin_fn entry;
};
const LinkedBackend kLinked[] = {
#define MOTE_LINKED(name) {#name, &mote_linked_##name},
#include "mote_linked_backends.inc"
#undef MOTE_LINKED
    {nullptr, nullptr}};

// Lower-case letters, digits and underscores: nothing that could lead out of a folder.
bool is_name(const char* name) noexcept {
  size_t n = 0;
  for (; name[n] != 0; ++n)
    if (n + 1 >= kNameBytes || !((name[n] >= 'a' && name[n] <= 'z') || (name[n] >= '0' && name[n] <= '9') || name[n] == '_')) return false;
  return n > 0;
}

bool join(char (&path)[kPathBytes], const char* more) noexcept {
  const size_t used = std::strlen(path), size = std::strlen(more);
  if (used + size >= kPathBytes) return false;
  std::memcpy(path + used, more, size + 1);
  return true;
}

// "opencl_f16" comes from the library of "opencl" where it has none of its own.
bool shorten(char* stem) noexcept {
  char* last = std::strrchr(stem, '_');
  if (last == nullptr || last == stem) return false;
  *last = 0;
  return true;
}

const mote_backend_plugin* linked(const char* name) noexcept {
  char stem[kNameBytes];
  std::memcpy(stem, name, std::strlen(name) + 1);
  do
    for (const LinkedBackend* b = kLinked; b->name != nullptr; ++b)
      if (std::strcmp(b->name, stem) == 0) return b->entry();
  while (shorten(stem));
  return nullptr;
}

bool is_file(const char* path) noexcept {
  File file;
  return File::open(path, &file).ok();
}

class Loading {
 public:
  Loading(mote_registry* registry, const char* name, mote_error* error) : registry_(*registry), name_(name), error_(error) {}

  mote_status run() noexcept {
    if (registry_.in_use.load()) return fail({Status::kBusy, Why::kRegistryInUse});
    const bool is_path = name_[0] == '/';
    if (!is_path && !is_name(name_)) return fail({Status::kInvalidArgument, Why::kBackendName});
    const mote_backend_plugin* plugin = is_path ? nullptr : linked(name_);
    if (plugin == nullptr) {
      if (is_path ? !join(path_, name_) : !find_beside())
        return status_ != 0 ? status_ : fail({Status::kInvalidArgument, Why::kBackendName});
      if (const mote_status s = open(&plugin)) return s;
    }
    if (const mote_status s = check(plugin, is_path ? nullptr : name_)) return close(s);
    return add(plugin);
  }

 private:
  mote_status fail(Status s, const char* reason = nullptr, int64_t expected = 0, int64_t found = 0) noexcept {
    status_ = report(error_, kLoad, s, expected, found, name_);
    if (path_[0] == '/' && std::strcmp(path_, name_) != 0) append(error_, path_);
    append(error_, reason);
    return status_;
  }
  mote_status close(mote_status s) noexcept {
    if (library_ != nullptr) close_library(library_);
    return s;
  }

  // The library of that name in the folder of this code.
  bool find_beside() noexcept {
    char folder[kPathBytes], stem[kNameBytes];
    if (!folder_of_code(reinterpret_cast<const void*>(&kLinked), folder, sizeof folder)) {
      (void)fail({Status::kNotFound, Why::kBackendLibrary}, "the folder of libmote is not known: give the library's absolute path");
      return false;
    }
    std::memcpy(stem, name_, std::strlen(name_) + 1);
    do {
      path_[0] = 0;
      if (!join(path_, folder) || !join(path_, kLibraryPrefix) || !join(path_, "mote_") || !join(path_, stem) ||
          !join(path_, kLibrarySuffix))
        return false;
    } while (!is_file(path_) && shorten(stem));
    return true;
  }

  mote_status open(const mote_backend_plugin** out) noexcept {
    if (!is_file(path_)) return fail({Status::kNotFound, Why::kBackendLibrary}, "there is no such file");
    char why[512];
    library_ = open_library(path_, why, sizeof why);
    if (library_ == nullptr) return fail({Status::kBackend, Why::kBackendLibrary}, why);
    const auto entry = reinterpret_cast<mote_backend_plugin_fn>(library_symbol(library_, MOTE_BACKEND_PLUGIN_ENTRY));
    if (entry == nullptr) return close(fail({Status::kVersion, Why::kBackendPlugin}, "it has no function " MOTE_BACKEND_PLUGIN_ENTRY));
    *out = entry();
    return MOTE_OK;
  }

  // Every backend of the library, before any is added. `wanted`: one of them must have this name.
  mote_status check(const mote_backend_plugin* first, const char* wanted) noexcept {
    bool found = wanted == nullptr;
    const mote_backend_plugin* p = first;
    do {
      const backends::PluginFault f = backends::fault_of(p);
      if (f.fault != nullptr) return fail({Status::kVersion, Why::kBackendPlugin}, f.fault, f.expected, f.found);
      found = found || std::strcmp(p->device->name, wanted) == 0;
      const mote_backend* other = find_backend(registry_.backend_list(), p->device->name);
      if (other != nullptr && other != p->device) return fail({Status::kInvalidArgument, Why::kBackendTwice}, p->device->name);
      if (other == nullptr && registry_.backend_count + ++added_ > mote_registry::kMaxBackends)
        return fail({Status::kOutOfMemory, Why::kRegistryFull});
    } while ((p = backends::next_of(*p)) != nullptr);
    return found ? mote_status{MOTE_OK} : fail({Status::kNotFound, Why::kBackendPlugin}, "it has no backend of that name");
  }

  mote_status add(const mote_backend_plugin* p) noexcept {
    for (; p != nullptr; p = backends::next_of(*p))
      if (find_backend(registry_.backend_list(), p->device->name) == nullptr) registry_.backends[registry_.backend_count++] = p->device;
    return MOTE_OK;
  }

  mote_registry& registry_;
  const char* name_;
  mote_error* error_;
  char path_[kPathBytes] = {};
  void* library_ = nullptr;
  uint32_t added_ = 0;
  mote_status status_ = 0;
};

const char* or_empty(const char* text) noexcept { return text != nullptr ? text : ""; }

}  // namespace
}  // namespace mote::api

using namespace mote;

extern "C" {

mote_status mote_registry_load_backend(mote_registry* registry, const char* name, mote_error* error) {
  if (registry == nullptr || name == nullptr) return api::report(error, api::kLoad, {Status::kInvalidArgument, Why::kApiArgument});
  return api::Loading(registry, name, error).run();
}

uint32_t mote_registry_backend_count(const mote_registry* registry) { return registry != nullptr ? registry->backend_count : 0; }

mote_status mote_registry_backend(const mote_registry* registry, uint32_t index, mote_backend_info* info) {
  if (registry == nullptr || info == nullptr) return Status(Status::kInvalidArgument, Why::kApiArgument).bits();
  if (index >= registry->backend_count) return Status(Status::kNotFound, Why::kNoSuchRecord).bits();
  const mote_backend& b = *registry->backends[index];
  mote_backend_info out;
  std::memset(&out, 0, sizeof out);
  out.name = b.name;
  out.version = api::or_empty(b.version);
  // A device is looked for when something asks whether a program can run there.
  (void)b.probe(out.version, "");
  out.device = api::or_empty(b.device != nullptr ? b.device(&out.units) : nullptr);
  return api::write_struct(out, info) ? mote_status{MOTE_OK} : Status(Status::kInvalidArgument, Why::kApiArgument).bits();
}

}  // extern "C"
