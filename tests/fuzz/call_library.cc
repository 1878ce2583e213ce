// Calls about the library, registries and programs.

#include <cstdlib>
#include <cstring>
#include <fstream>

#include "tests/fuzz/call_programs.h"
#include "tests/fuzz/call_state.h"
#include "tests/fuzz/run_untrusted.h"

namespace mote::fuzz {
namespace {

// A number that is often right: below `count`, or one past, or any.
uint32_t index_near(Dice& dice, uint32_t count) {
  const uint32_t kind = dice.below(8);
  return kind < 6 ? dice.below(count) : kind == 6 ? count : dice.word();
}

bool is_text(const char* s) { return s != nullptr && std::strlen(s) < 4096; }

uint32_t never(void*, const mote_op_call*) { return MOTE_INTERNAL; }
uint32_t never_infers(void*, const mote_op_call*, mote_op_type*) { return MOTE_UNSUPPORTED; }

mote_open_options open_options(Handles& h) {
  mote_open_options o{};
  o.struct_size = h.dice.chance(95) ? sizeof o : h.dice.below(sizeof o);
  o.flags = h.dice.below(8);
  o.registry = h.registry;
  return o;
}

// A reader over bytes that may fail, or end, where it likes.
struct Source {
  const std::vector<uint8_t>* bytes;
  int32_t reads_left;
  static int read(void* self, uint64_t offset, void* to, size_t size) {
    auto* s = static_cast<Source*>(self);
    if (s->reads_left-- == 0 || offset > s->bytes->size() || size > s->bytes->size() - offset) return 1;
    if (size > 0) std::memcpy(to, s->bytes->data() + offset, size);
    return 0;
  }
};

}  // namespace

void call_about_library(Handles& h) {
  Dice& d = h.dice;
  const uint32_t n = d.chance(60) ? d.below(300) : d.word() & MOTE_CODE_WIDTH;  // what the enumerations can hold
  uint32_t major = 0, minor = 0;
  switch (d.below(10)) {
    case 0:
      h.expect(MOTE_FUZZ_CALL(h, mote_api_version)() == MOTE_API_VERSION, "the version of the interface");
      h.expect(is_text(MOTE_FUZZ_CALL(h, mote_version)()), "the version has no text");
      (void)MOTE_FUZZ_CALL(h, mote_format_version)(d.chance(80) ? &major : nullptr, d.chance(80) ? &minor : nullptr);
      break;
    case 1:
      (void)MOTE_FUZZ_CALL(h, mote_status_code)(n);
      (void)MOTE_FUZZ_CALL(h, mote_status_why)(n);
      h.expect(is_text(MOTE_FUZZ_CALL(h, mote_code_name)(static_cast<mote_code>(n))), "a code has no name");
      h.expect(is_text(MOTE_FUZZ_CALL(h, mote_code_text)(static_cast<mote_code>(n))), "a code has no text");
      break;
    case 2:
      h.expect(is_text(MOTE_FUZZ_CALL(h, mote_why_name)(n)), "a reason has no name");
      h.expect(is_text(MOTE_FUZZ_CALL(h, mote_why_text)(n)), "a reason has no text");
      break;
    case 3:
      h.expect(is_text(MOTE_FUZZ_CALL(h, mote_dtype_name)(static_cast<mote_dtype>(n))), "a type has no name");
      h.expect(MOTE_FUZZ_CALL(h, mote_dtype_bits)(static_cast<mote_dtype>(n)) <= 64, "a type has too many bits");
      break;
    case 4: {
      const char* op = MOTE_FUZZ_CALL(h, mote_op_name)(n);
      h.expect(op == nullptr || is_text(op), "an operator has no name");
      const char* kernels = MOTE_FUZZ_CALL(h, mote_kernels_name)(n);
      h.expect(kernels == nullptr || is_text(kernels), "kernels have no name");
      break;
    }
    case 5: {
      const mote_error* e = d.chance(80) ? h.error : nullptr;
      h.expect(is_text(MOTE_FUZZ_CALL(h, mote_error_message)(e)) && is_text(MOTE_FUZZ_CALL(h, mote_error_op)(e)) &&
                   is_text(MOTE_FUZZ_CALL(h, mote_error_source)(e)) && is_text(MOTE_FUZZ_CALL(h, mote_error_tensor)(e)),
               "an error has no text");
      (void)MOTE_FUZZ_CALL(h, mote_error_status)(e);
      (void)MOTE_FUZZ_CALL(h, mote_error_instruction)(e);
      (void)MOTE_FUZZ_CALL(h, mote_error_expected)(e);
      (void)MOTE_FUZZ_CALL(h, mote_error_found)(e);
      break;
    }
    case 6:
      MOTE_FUZZ_CALL(h, mote_error_destroy)(h.error);
      h.error = d.chance(80) ? MOTE_FUZZ_CALL(h, mote_error_create)() : nullptr;
      break;
    case 7:
      if (h.cancel == nullptr) h.cancel = MOTE_FUZZ_CALL(h, mote_cancel_create)();
      else if (d.chance(20)) MOTE_FUZZ_CALL(h, mote_cancel_destroy)(h.cancel), h.cancel = nullptr;
      MOTE_FUZZ_CALL(h, mote_cancel_reset)(h.cancel);
      break;
    case 8: (void)MOTE_FUZZ_CALL(h, mote_clock_ns)(); break;
    default:
      // Half of the functions is never right; and the allocator may change only while there is no handle.
      h.expect_code(MOTE_FUZZ_CALL(h, mote_set_allocator)(
                        nullptr, [](void*, void*) {}, nullptr),
                    {MOTE_INVALID_ARGUMENT});
  }
}

namespace {

// Names that lead nowhere, or where they may not; and what a registry has.
void call_load_backend(Handles& h, mote_registry* registry) {
  Dice& d = h.dice;
  const char* const names[] = {"nothere", "../x", "", "x.so", "/no/such/library.so", "a_b_c_d", nullptr};
  const char* name = names[d.below(7)];
  const mote_status s = MOTE_FUZZ_CALL(h, mote_registry_load_backend)(registry, name, h.error);
  if (registry == nullptr || name == nullptr) h.expect_code(s, {MOTE_INVALID_ARGUMENT});
  else h.expect_code(s, {MOTE_INVALID_ARGUMENT, MOTE_NOT_FOUND, h.registry_in_use || h.registry_tried ? MOTE_BUSY : MOTE_NOT_FOUND});
  const uint32_t count = MOTE_FUZZ_CALL(h, mote_registry_backend_count)(registry), i = index_near(d, count);
  mote_backend_info info{};
  info.struct_size = d.chance(90) ? sizeof info : d.below(sizeof info);
  const bool right = registry != nullptr && (i >= count || (info.struct_size >= sizeof(size_t) && info.struct_size % sizeof(size_t) == 0));
  h.expect_code(MOTE_FUZZ_CALL(h, mote_registry_backend)(registry, i, &info), {!right      ? MOTE_INVALID_ARGUMENT
                                                                               : i < count ? MOTE_OK
                                                                                           : MOTE_NOT_FOUND});
}

}  // namespace

void call_registry(Handles& h) {
  Dice& d = h.dice;
  if (h.registry == nullptr) {
    h.expect_code(MOTE_FUZZ_CALL(h, mote_registry_create)(d.chance(90) ? &h.registry : nullptr), {MOTE_OK, MOTE_INVALID_ARGUMENT});
    h.registry_in_use = h.registry_tried = false;
    return;
  }
  mote_registry* registry = d.chance(90) ? h.registry : nullptr;
  if (d.chance(20)) {
    MOTE_FUZZ_CALL(h, mote_registry_release)(registry);
    if (registry != nullptr) h.registry = nullptr;
    return;
  }
  if (d.chance(20)) return call_load_backend(h, registry);
  if (d.chance(50)) {
    mote_custom_op op{};
    op.abi = d.chance(90) ? MOTE_CUSTOM_OP_ABI : d.word();
    op.name = d.chance(90) ? "fuzz::never" : nullptr;
    op.attrs_size = d.chance(90) ? 4 * d.below(4) : d.word();
    op.max_outputs = 1;
    op.infer = d.chance(90) ? &never_infers : nullptr;
    op.run = d.chance(90) ? &never : nullptr;
    const bool right = op.abi == MOTE_CUSTOM_OP_ABI && op.name != nullptr && op.attrs_size <= 256 && op.attrs_size % 4 == 0 &&
                       op.infer != nullptr && op.run != nullptr;
    const bool given = d.chance(90);
    const mote_status s = MOTE_FUZZ_CALL(h, mote_registry_add_op)(registry, given ? &op : nullptr, h.error);
    if (!given || registry == nullptr || !right) h.expect_code(s, {MOTE_INVALID_ARGUMENT});
    else if (h.registry_in_use) h.expect_code(s, {MOTE_BUSY});
    else h.expect_code(s, {MOTE_OK, MOTE_OUT_OF_MEMORY, h.registry_tried ? MOTE_BUSY : MOTE_OK});
    return;
  }
  static mote_backend broken = [] {
    mote_backend b = kTouchBackend;
    b.execute = nullptr;
    return b;
  }();
  const uint32_t which = d.below(5);
  const mote_status s = MOTE_FUZZ_CALL(h, mote_registry_add_backend)(registry,
                                                                     which == 0   ? nullptr
                                                                     : which == 1 ? &broken
                                                                                  : &kTouchBackend,
                                                                     h.error);
  if (registry == nullptr || which < 2) h.expect_code(s, {MOTE_INVALID_ARGUMENT});
  else if (h.registry_in_use) h.expect_code(s, {MOTE_BUSY});
  else h.expect_code(s, {MOTE_OK, MOTE_OUT_OF_MEMORY, h.registry_tried ? MOTE_BUSY : MOTE_OK});
}

void call_open(Handles& h) {
  Dice& d = h.dice;
  ProgramState p;
  h.files.push_back(any_program_file(d, &p.own));
  const std::vector<uint8_t>& bytes = h.files.back();
  mote_open_options o = open_options(h);
  const char* const names[] = {"touch", d.chance(90) ? "gpu" : nullptr};
  if (d.chance(15)) o.backends = names, o.backend_count = d.below(3);
  if (d.chance(5)) o.weights_path = "/no/such/weights";
  if (d.chance(5)) o.weights = bytes.data(), o.weights_size = bytes.size();
  if (d.chance(5)) o.memory_limit_bytes = 1 + d.below(4096);
  const bool with_options = d.chance(70);
  // An attempt that fails may have come as far as the registry.
  if (with_options && h.registry != nullptr) h.registry_tried = true;
  const bool plain = !with_options || (o.struct_size == sizeof o && o.backends == nullptr && o.weights == nullptr &&
                                       o.weights_path == nullptr && o.memory_limit_bytes == 0);
  const mote_open_options* options = with_options ? &o : nullptr;
  mote_program** out = d.chance(95) ? &p.handle : nullptr;
  mote_status s = MOTE_OK;
  bool right = plain && out != nullptr && p.own;
  switch (d.below(4)) {
    case 0:
      s = MOTE_FUZZ_CALL(h, mote_program_open_file)(d.chance(50) ? nullptr : d.chance(50) ? "/no/such/file" : "/", options, out, h.error);
      h.expect(s != MOTE_OK, "a file that is not there was opened");
      return;
    case 1: {
      Source source{&bytes, d.chance(80) ? -1 : d.between(0, 4)};
      mote_reader r{};
      r.struct_size = d.chance(90) ? sizeof r : d.below(sizeof r);
      r.context = &source;
      r.size = d.chance(90) ? bytes.size() : d.word();
      r.read = d.chance(90) ? &Source::read : nullptr;
      right = right && source.reads_left < 0 && r.struct_size == sizeof r && r.size == bytes.size() && r.read != nullptr;
      s = MOTE_FUZZ_CALL(h, mote_program_open_reader)(d.chance(95) ? &r : (right = false, nullptr), options, out, h.error);
      break;
    }
    default: {
      const bool aligned = d.chance(90), given = d.chance(95);
      h.file_blocks.emplace_back(bytes.size() + (aligned ? 0 : 4), 16);
      uint8_t* at = h.file_blocks.back().data() + (aligned ? 0 : 4);
      if (!bytes.empty()) std::memcpy(at, bytes.data(), bytes.size());
      right = right && aligned && given;
      s = MOTE_FUZZ_CALL(h, mote_program_open_memory)(given ? at : nullptr, bytes.size(), options, out, h.error);
    }
  }
  h.expect((s == MOTE_OK) == (p.handle != nullptr), "a program and a status that do not go together");
  h.expect(mote_status_code(s) != MOTE_INTERNAL, "opening reports an internal error");
  if (right) h.expect_code(s, {MOTE_OK});
  if (p.handle != nullptr && with_options && o.struct_size == sizeof o && h.registry != nullptr) h.registry_in_use = true;
  if (p.handle != nullptr) h.programs.push_back(p);
}

void call_describe(Handles& h) {
  Dice& d = h.dice;
  const ProgramState* state = h.any_program();
  mote_program* p = state != nullptr ? state->handle : nullptr;
  const uint32_t methods = MOTE_FUZZ_CALL(h, mote_program_method_count)(p), m = index_near(d, methods);
  const uint32_t inputs = MOTE_FUZZ_CALL(h, mote_program_input_count)(p, m), outputs = MOTE_FUZZ_CALL(h, mote_program_output_count)(p, m);
  const auto expect_found = [&](mote_status s, bool arguments, bool found) {
    h.expect_code(s, {p == nullptr || !arguments ? MOTE_INVALID_ARGUMENT : found ? MOTE_OK : MOTE_NOT_FOUND});
  };
  switch (d.below(11)) {
    case 0: {
      const char* name = MOTE_FUZZ_CALL(h, mote_program_method_name)(p, m);
      h.expect((name != nullptr) == (m < methods), "the name of a method");
      uint32_t found = 0;
      const mote_status s = MOTE_FUZZ_CALL(h, mote_program_find_method)(p, name, &found);
      expect_found(s, name != nullptr, true);
      break;
    }
    case 1:
    case 2: {
      const bool output = d.chance(50);
      const uint32_t i = index_near(d, output ? outputs : inputs);
      mote_tensor_info info{};
      info.struct_size = d.chance(90) ? sizeof info : d.below(2 * sizeof info);
      if (info.struct_size > sizeof info) info.struct_size = sizeof info;
      const bool sized = info.struct_size >= sizeof(size_t) && info.struct_size % sizeof(size_t) == 0, given = d.chance(95);
      const mote_status s = output ? MOTE_FUZZ_CALL(h, mote_program_output_info)(p, m, i, given ? &info : nullptr)
                                   : MOTE_FUZZ_CALL(h, mote_program_input_info)(p, m, i, given ? &info : nullptr);
      const bool found = m < methods && i < (output ? outputs : inputs);
      expect_found(s, given && (sized || !found), found);
      if (s == MOTE_OK && info.struct_size == sizeof info) {
        uint32_t index = 0;
        h.expect_code(output ? MOTE_FUZZ_CALL(h, mote_program_find_output)(p, m, info.name, &index)
                             : MOTE_FUZZ_CALL(h, mote_program_find_input)(p, m, info.name, &index),
                      {MOTE_OK});
      }
      break;
    }
    case 3:
    case 4: {
      const bool evidence = d.chance(50), given = d.chance(90);
      const uint32_t count =
          evidence ? MOTE_FUZZ_CALL(h, mote_program_evidence_count)(p) : MOTE_FUZZ_CALL(h, mote_program_metadata_count)(p);
      const uint32_t i = index_near(d, count);
      const char *key = nullptr, *value = nullptr;
      const mote_status s = evidence ? MOTE_FUZZ_CALL(h, mote_program_evidence_at)(p, i, given ? &key : nullptr, &value)
                                     : MOTE_FUZZ_CALL(h, mote_program_metadata_at)(p, i, given ? &key : nullptr, &value);
      expect_found(s, given, i < count);
      const char* again = evidence ? MOTE_FUZZ_CALL(h, mote_program_evidence)(p, key) : MOTE_FUZZ_CALL(h, mote_program_metadata)(p, key);
      h.expect((again != nullptr) == (s == MOTE_OK), "a key that is there has a value");
      break;
    }
    case 5: {
      mote_certificate c{};
      c.struct_size = d.chance(90) ? sizeof c : d.below(sizeof c);
      const bool right = c.struct_size >= sizeof(size_t) && c.struct_size % sizeof(size_t) == 0, given = d.chance(95);
      expect_found(MOTE_FUZZ_CALL(h, mote_program_certificate)(p, given ? &c : nullptr), given && right, true);
      break;
    }
    case 6: {
      const char* name = nullptr;
      uint64_t bytes = 0;
      uint32_t alignment = 0;
      (void)MOTE_FUZZ_CALL(h, mote_program_bank)(p, d.below(3), d.chance(90) ? &name : nullptr, d.chance(90) ? &bytes : nullptr,
                                                 d.chance(90) ? &alignment : nullptr);
      break;
    }
    case 7: {
      const uint32_t count = MOTE_FUZZ_CALL(h, mote_program_instruction_count)(p), i = index_near(d, count);
      const char *op = nullptr, *source = nullptr;
      expect_found(MOTE_FUZZ_CALL(h, mote_program_instruction)(p, i, d.chance(90) ? &op : nullptr, d.chance(90) ? &source : nullptr), true,
                   i < count);
      break;
    }
    case 8: {
      const uint32_t count = MOTE_FUZZ_CALL(h, mote_program_golden_count)(p), i = index_near(d, count);
      mote_golden g{};
      g.struct_size = sizeof g;
      const mote_status s = MOTE_FUZZ_CALL(h, mote_program_golden)(p, i, &g);
      if (i >= count) expect_found(s, true, false);
      if (s != MOTE_OK) break;
      // All of it can be read.
      const std::vector<uint8_t> copy(static_cast<const uint8_t*>(g.data), static_cast<const uint8_t*>(g.data) + g.bytes);
      h.expect(copy.size() == g.bytes, "golden data");
      break;
    }
    case 9: {
      const uint32_t count = MOTE_FUZZ_CALL(h, mote_program_part_count)(p), i = index_near(d, count);
      mote_part part{};
      part.struct_size = sizeof part;
      const mote_status s = MOTE_FUZZ_CALL(h, mote_program_part)(p, i, d.chance(95) ? &part : nullptr);
      if (s == MOTE_OK) h.expect(is_text(part.backend) && i < count, "a part has no backend");
      else h.expect(p == nullptr || i >= count || part.backend == nullptr, "a part that is there cannot be had");
      h.expect(is_text(MOTE_FUZZ_CALL(h, mote_program_policy)(p)), "a policy has no text");
      break;
    }
    default:
      (void)MOTE_FUZZ_CALL(h, mote_program_verify_digests)(p, h.error);
      (void)MOTE_FUZZ_CALL(h, mote_program_allocated_bytes)(p);
      (void)MOTE_FUZZ_CALL(h, mote_program_file_bytes)(p);
  }
}

}  // namespace mote::fuzz
