// Calls about instances: memory, buffers, sizes, runs.

#include <cstring>

#include "mote/core/dtype.h"
#include "tests/fuzz/call_state.h"
#include "tests/fuzz/values.h"

namespace mote::fuzz {
namespace {

uint64_t dense_bytes(const IoState& io) {
  uint64_t bits = mote_dtype_bits(io.info.dtype);
  for (const int32_t d : io.dims) bits *= static_cast<uint32_t>(d);
  return (bits + 7) / 8;
}

// An input or output by numbers that are often right; `state` is null where they are not.
struct Pick {
  uint32_t method = 0, index = 0;
  IoState* state = nullptr;
};
Pick pick_io(Handles& h, InstanceState* i, bool output) {
  Pick p;
  auto* all = i == nullptr ? nullptr : output ? &i->outputs : &i->inputs;
  if (all == nullptr || all->empty() || h.dice.chance(5)) {
    p.method = h.dice.chance(50) ? 0 : h.dice.word();
    p.index = h.dice.chance(50) ? 0 : h.dice.word();
    if (all != nullptr)
      if (const auto found = all->find({p.method, p.index}); found != all->end()) p.state = &found->second;
    return p;
  }
  auto it = all->begin();
  std::advance(it, h.dice.below(static_cast<uint32_t>(all->size())));
  p.method = it->first.first;
  p.index = it->first.second;
  p.state = &it->second;
  return p;
}

mote_instance* handle_of(InstanceState* i) { return i != nullptr ? i->handle : nullptr; }

void learn_ios(InstanceState* i, mote_program* program) {
  for (uint32_t m = 0; m < mote_program_method_count(program); ++m) {
    for (const bool output : {false, true}) {
      const uint32_t count = output ? mote_program_output_count(program, m) : mote_program_input_count(program, m);
      for (uint32_t k = 0; k < count; ++k) {
        IoState s;
        s.info.struct_size = sizeof s.info;
        (void)(output ? mote_program_output_info(program, m, k, &s.info) : mote_program_input_info(program, m, k, &s.info));
        s.dims.assign(s.info.dims, s.info.dims + s.info.rank);
        s.bound = s.info.in_bank != 0;
        (output ? i->outputs : i->inputs)[{m, k}] = s;
      }
    }
  }
}

void call_bind(Handles& h, InstanceState* i) {
  Dice& d = h.dice;
  const bool output = d.chance(40);
  const Pick p = pick_io(h, i, output);
  const uint64_t needed = p.state == nullptr ? 4 : output ? p.state->info.bytes : dense_bytes(*p.state);
  const uint64_t bytes = d.chance(85) ? needed : d.below(static_cast<uint32_t>(needed) + 64);
  const uint32_t width = p.state == nullptr ? 1 : dtype_bytes(static_cast<DType>(p.state->info.dtype));
  const bool shifted = width > 1 && d.chance(5), none = d.chance(5);
  void* data = nullptr;
  if (!none && i != nullptr) {
    i->blocks.emplace_back(static_cast<size_t>(bytes) + (shifted ? 1 : 0), 16);
    data = i->blocks.back().data() + (shifted ? 1 : 0);
    if (!output && p.state != nullptr) fill_values(static_cast<DType>(p.state->info.dtype), static_cast<uint8_t*>(data), bytes, d);
  }
  const mote_status s = output ? MOTE_FUZZ_CALL(h, mote_instance_bind_output)(handle_of(i), p.method, p.index, data, bytes, h.error)
                               : MOTE_FUZZ_CALL(h, mote_instance_bind_input)(handle_of(i), p.method, p.index, data, bytes, h.error);
  const bool right =
      p.state != nullptr && p.state->info.in_bank == 0 && (needed == 0 || (bytes >= needed && data != nullptr)) && (!shifted || none);
  // A random program may want its tensor with gaps: larger than its elements.
  const bool gaps = right && !h.programs[i->program].own;
  h.expect_code(s, {right ? MOTE_OK : MOTE_INVALID_ARGUMENT, gaps || !right ? MOTE_INVALID_ARGUMENT : MOTE_OK});
  if (!right || s != MOTE_OK) return;
  p.state->bound = true;
  p.state->callers = p.state->present = data != nullptr;
  p.state->buffer = data;
  p.state->buffer_bytes = data != nullptr ? bytes : 0;
}

void call_dims(Handles& h, InstanceState* i) {
  Dice& d = h.dice;
  const Pick p = pick_io(h, i, false);
  int32_t dims[MOTE_MAX_RANK] = {};
  uint32_t rank = p.state != nullptr ? p.state->info.rank : 1;
  bool right = p.state != nullptr;
  for (uint32_t k = 0; right && k < rank; ++k) {
    const int32_t bound = p.state->info.dims[k];
    dims[k] = (p.state->info.dynamic >> k & 1) != 0 ? d.between(0, bound) : bound;
    if (d.chance(3)) dims[k] = static_cast<int32_t>(d.word());
    right = right && (dims[k] == bound || ((p.state->info.dynamic >> k & 1) != 0 && dims[k] >= 0 && dims[k] < bound));
  }
  const bool valid = p.state != nullptr;
  if (d.chance(3)) rank = d.below(MOTE_MAX_RANK + 1);
  right = right && rank == p.state->info.rank;
  const bool given = d.chance(97);
  const mote_status s =
      MOTE_FUZZ_CALL(h, mote_instance_set_input_dims)(handle_of(i), p.method, p.index, given ? dims : nullptr, rank, h.error);
  if (!valid || (!given && rank > 0)) return h.expect_code(s, {MOTE_INVALID_ARGUMENT});
  h.expect_code(s, {right ? MOTE_OK : MOTE_SHAPE});
  const std::vector<int32_t> now(dims, dims + rank);
  if (!right || now == p.state->dims) return;
  p.state->dims = now;
  if (i->running == p.method) i->running = -1;
  // A buffer that still fits stays; the library's own always does. No buffer is enough for no elements, of one size only.
  if (p.state->info.in_bank == 0) p.state->bound = p.state->present && p.state->buffer_bytes >= dense_bytes(*p.state);
}

void call_set_input(Handles& h, InstanceState* i) {
  Dice& d = h.dice;
  const Pick p = pick_io(h, i, false);
  const uint64_t needed = p.state == nullptr ? 4 : dense_bytes(*p.state);
  const uint64_t bytes = d.chance(85) ? needed : d.below(static_cast<uint32_t>(needed) + 64);
  ExactBlock block(static_cast<size_t>(bytes));
  if (p.state != nullptr) fill_values(static_cast<DType>(p.state->info.dtype), block.data(), bytes, d);
  const bool given = d.chance(95);
  const mote_status s =
      MOTE_FUZZ_CALL(h, mote_instance_set_input)(handle_of(i), p.method, p.index, given ? block.data() : nullptr, bytes, h.error);
  if (p.state == nullptr || (!given && bytes > 0)) return h.expect_code(s, {MOTE_INVALID_ARGUMENT});
  if (p.state->callers) return h.expect_code(s, {MOTE_BUSY});
  h.expect_code(s, {bytes == needed ? MOTE_OK : MOTE_SHAPE});
  if (p.state->info.in_bank != 0 || p.state->bound) return;
  p.state->bound = p.state->present = true;
  p.state->buffer_bytes = p.state->info.bytes;
}

void call_own(Handles& h, InstanceState* i) {
  const uint32_t method = h.dice.chance(95) ? h.dice.below(2) : h.dice.word();
  const mote_status s = MOTE_FUZZ_CALL(h, mote_instance_own_io)(handle_of(i), method, h.error);
  const bool right = i != nullptr && method < mote_program_method_count(h.programs[i->program].handle);
  h.expect_code(s, {right ? MOTE_OK : MOTE_INVALID_ARGUMENT});
  if (!right) return;
  for (auto* all : {&i->inputs, &i->outputs})
    for (auto& [at, io] : *all)
      if (at.first == method && !io.bound) io.bound = io.present = true, io.callers = false, io.buffer_bytes = io.info.bytes;
}

void call_get_output(Handles& h, InstanceState* i) {
  Dice& d = h.dice;
  const Pick p = pick_io(h, i, true);
  int32_t dims[MOTE_MAX_RANK] = {};
  uint32_t rank = 0;
  if (p.state != nullptr && mote_instance_output_dims(i->handle, p.method, p.index, dims, &rank) == MOTE_OK)
    p.state->dims.assign(dims, dims + rank);
  const uint64_t needed = p.state == nullptr ? 4 : dense_bytes(*p.state);
  const uint64_t capacity = d.chance(85) ? needed : d.below(static_cast<uint32_t>(needed) + 64);
  ExactBlock block(static_cast<size_t>(capacity));
  const bool given = d.chance(95);
  uint64_t bytes = 0;
  const mote_status s = MOTE_FUZZ_CALL(h, mote_instance_get_output)(handle_of(i), p.method, p.index, given ? block.data() : nullptr,
                                                                    capacity, d.chance(90) ? &bytes : nullptr, h.error);
  if (p.state == nullptr || (!given && capacity > 0)) return h.expect_code(s, {MOTE_INVALID_ARGUMENT});
  if (!p.state->bound && needed > 0) return h.expect_code(s, {MOTE_NOT_BOUND});
  h.expect_code(s, {capacity >= needed ? MOTE_OK : MOTE_INVALID_ARGUMENT});
}

void call_look(Handles& h, InstanceState* i) {
  const bool output = h.dice.chance(50);
  const Pick p = pick_io(h, i, output);
  int32_t dims[MOTE_MAX_RANK] = {};
  uint32_t rank = 0;
  int32_t* at = h.dice.chance(90) ? dims : nullptr;
  const mote_status s = output ? MOTE_FUZZ_CALL(h, mote_instance_output_dims)(handle_of(i), p.method, p.index, at, &rank)
                               : MOTE_FUZZ_CALL(h, mote_instance_input_dims)(handle_of(i), p.method, p.index, at, &rank);
  h.expect_code(s, {p.state != nullptr && at != nullptr ? MOTE_OK : MOTE_INVALID_ARGUMENT});
  for (uint32_t k = 0; s == MOTE_OK && k < rank; ++k)
    h.expect(dims[k] >= 0 && dims[k] <= p.state->info.dims[k], "a size outside of its bounds");
  const void* data = output ? MOTE_FUZZ_CALL(h, mote_instance_output_data)(handle_of(i), p.method, p.index)
                            : MOTE_FUZZ_CALL(h, mote_instance_input_data)(handle_of(i), p.method, p.index);
  h.expect((data != nullptr) == (p.state != nullptr && p.state->bound), "there is a buffer exactly where one was bound");
  if (p.state != nullptr && p.state->bound && p.state->callers && p.state->buffer != nullptr)
    h.expect(data == p.state->buffer, "the buffer is the one that was bound");
}

bool all_bound(InstanceState* i, uint32_t method) {
  for (auto* all : {&i->inputs, &i->outputs})
    for (const auto& [at, io] : *all)
      if (at.first == method && !io.bound) return false;
  return true;
}

}  // namespace

void call_create(Handles& h) {
  Dice& d = h.dice;
  ProgramState* p = h.any_program();
  mote_certificate c{};
  c.struct_size = sizeof c;
  if (p != nullptr) (void)mote_program_certificate(p->handle, &c);
  if (c.arena_bytes > (1u << 22)) return;
  InstanceState state;
  mote_instance_options o{};
  bool right = p != nullptr && p->own;
  const auto wrong_if = [&](uint32_t percent) {
    const bool yes = d.chance(percent);
    right = right && !yes;
    return yes;
  };
  o.struct_size = wrong_if(3) ? d.below(sizeof(size_t)) : sizeof o;
  if (d.chance(10)) o.threads = 1 + d.below(3);
  if (wrong_if(3)) o.threads = 65 + d.word() % 1000;
  if (wrong_if(3)) o.kernels = "none such";
  else if (d.chance(20)) o.kernels = "portable";
  // Too little, unless all of the memory is the caller's.
  const bool limited = d.chance(3);
  if (limited) o.memory_limit_bytes = 1;
  mote_memory instance{}, scratch{};
  const uint32_t threads = o.threads > 1 ? o.threads : 1;
  const auto give = [&](uint64_t needed, mote_memory* m) {
    // Too little where something is needed, or nothing at all.
    if (needed > 0 && wrong_if(5)) needed = d.below(static_cast<uint32_t>(needed));
    state.blocks.emplace_back(static_cast<size_t>(needed));
    m->data = needed > 0 && wrong_if(3) ? nullptr : state.blocks.back().data();
    m->bytes = needed;
  };
  if (d.chance(30)) give(c.instance_bytes, &instance), o.instance = &instance;
  if (d.chance(30)) give(c.scratch_bytes + (threads - 1) * c.scratch_per_thread_bytes, &scratch), o.scratch = &scratch;
  std::vector<mote_memory> banks(c.bank_count);
  if (d.chance(30)) {
    for (uint32_t b = 0; b < c.bank_count; ++b) {
      uint64_t bytes = 0;
      (void)mote_program_bank(p->handle, b, nullptr, &bytes, nullptr);
      give(bytes, &banks[b]);
    }
    mote_memory none{};
    o.banks = banks.empty() ? &none : banks.data();
    o.bank_count = wrong_if(5) ? c.bank_count + 1 + d.below(1000000) : c.bank_count;
  }
  const bool with_options = d.chance(80), out_given = d.chance(97);
  if (!with_options) right = p != nullptr && p->own;
  const mote_status s = MOTE_FUZZ_CALL(h, mote_instance_create)(p != nullptr ? p->handle : nullptr, with_options ? &o : nullptr,
                                                                out_given ? &state.handle : nullptr, h.error);
  h.expect((s == MOTE_OK) == (state.handle != nullptr), "an instance and a status that do not go together");
  if (p == nullptr || !out_given) h.expect_code(s, {MOTE_INVALID_ARGUMENT});
  else if (right) h.expect_code(s, {MOTE_OK, limited ? MOTE_OUT_OF_MEMORY : MOTE_OK});
  else if (p->own) h.expect_code(s, {MOTE_INVALID_ARGUMENT, MOTE_UNSUPPORTED, MOTE_OUT_OF_MEMORY});
  // What has no room for buffers of its own would need a model of its memory.
  if (limited) mote_instance_destroy(state.handle);
  if (limited || state.handle == nullptr) return;
  state.program = static_cast<size_t>(p - h.programs.data());
  learn_ios(&state, p->handle);
  h.instances.push_back(std::move(state));
}

void call_io(Handles& h) {
  InstanceState* i = h.any_instance();
  constexpr void (*kCalls[])(Handles&, InstanceState*) = {&call_bind, &call_dims, &call_set_input, &call_own, &call_get_output, &call_look};
  kCalls[h.dice.below(6)](h, i);
}

// The examples of a program, in an instance of their own: the test leaves buffers behind that others do not expect.
void test_examples(Handles& h) {
  const ProgramState* p = h.any_program();
  mote_instance* instance = nullptr;
  if (p != nullptr && mote_instance_create(p->handle, nullptr, &instance, nullptr) != MOTE_OK) return;
  mote_self_test result{};
  result.struct_size = h.dice.chance(90) ? sizeof result : h.dice.below(sizeof result);
  const mote_status s = MOTE_FUZZ_CALL(h, mote_instance_self_test)(instance, h.dice.chance(90) ? &result : nullptr, h.error);
  if (instance == nullptr) h.expect_code(s, {MOTE_INVALID_ARGUMENT});
  if (mote_status_code(s) == MOTE_INTERNAL) h.expect(mote_status_why(s) == 258, "a self-test reports an internal error");
  if (result.struct_size == sizeof result && s == MOTE_OK) h.expect(result.failed == 0, "a self-test that passed has failures");
  mote_instance_destroy(instance);
}

void call_run(Handles& h) {
  Dice& d = h.dice;
  InstanceState* i = h.any_instance();
  mote_run_options o{};
  o.struct_size = d.chance(95) ? sizeof o : d.below(sizeof(size_t));
  if (d.chance(20)) o.max_steps = 1 + d.below(6);
  if (d.chance(10)) o.deadline_ns = 1;
  if (d.chance(20)) o.cancel = h.cancel;
  if (d.chance(30)) MOTE_FUZZ_CALL(h, mote_cancel_request)(o.cancel != nullptr ? h.cancel : nullptr);
  const bool with_options = d.chance(50), valid = i != nullptr && (!with_options || o.struct_size == sizeof o);
  const mote_run_options* options = with_options ? &o : nullptr;
  const uint32_t method = d.chance(95) ? d.below(2) : d.word();
  const bool own = i != nullptr && h.programs[i->program].own;
  const bool there = i != nullptr && method < mote_program_method_count(h.programs[i->program].handle);
  const auto ended = [&](mote_status s) {
    h.expect(mote_status_code(s) != MOTE_INTERNAL, "a run reports an internal error");
    if (own) h.expect_code(s, {MOTE_OK, MOTE_DEADLINE, MOTE_CANCELLED, MOTE_STEP_LIMIT, MOTE_PAUSED});
    if (own && !with_options) h.expect_code(s, {MOTE_OK, MOTE_PAUSED});
    h.tally->finished += s == MOTE_OK ? 1 : 0;
  };
  switch (d.below(8)) {
    case 0: {
      const mote_status s = MOTE_FUZZ_CALL(h, mote_instance_run)(handle_of(i), method, options, h.error);
      if (!valid || !there) h.expect_code(s, {MOTE_INVALID_ARGUMENT});
      else if (!all_bound(i, method)) h.expect_code(s, {MOTE_NOT_BOUND});
      else ended(s), h.expect(mote_status_code(s) != MOTE_PAUSED, "a run that is not stepped paused");
      if (valid) i->running = -1;
      break;
    }
    case 1:
    case 2: {
      const mote_status s = MOTE_FUZZ_CALL(h, mote_instance_begin)(handle_of(i), method, h.error);
      if (i == nullptr || !there) h.expect_code(s, {MOTE_INVALID_ARGUMENT});
      else h.expect_code(s, {all_bound(i, method) ? MOTE_OK : MOTE_NOT_BOUND});
      if (i != nullptr) i->running = s == MOTE_OK ? int64_t{method} : -1;
      break;
    }
    case 3:
    case 4:
    case 5: {
      const mote_status s = MOTE_FUZZ_CALL(h, mote_instance_step)(handle_of(i), d.below(4), options, h.error);
      if (!valid || i->running < 0) h.expect_code(s, {MOTE_INVALID_ARGUMENT});
      else ended(s);
      if (valid && mote_status_code(s) != MOTE_PAUSED) i->running = -1;
      break;
    }
    case 6:
      (void)MOTE_FUZZ_CALL(h, mote_instance_position)(handle_of(i));
      (void)MOTE_FUZZ_CALL(h, mote_instance_degraded)(handle_of(i), h.error);
      (void)MOTE_FUZZ_CALL(h, mote_instance_allocated_bytes)(handle_of(i));
      (void)MOTE_FUZZ_CALL(h, mote_instance_backend)(handle_of(i), d.chance(80) ? d.below(8) : d.word());
      // No limit: what follows expects to get memory.
      h.expect_code(MOTE_FUZZ_CALL(h, mote_instance_set_memory_limit)(handle_of(i), d.chance(50) ? 0 : ~uint64_t{0}, h.error),
                    {i != nullptr ? MOTE_OK : MOTE_INVALID_ARGUMENT});
      if (d.chance(25)) test_examples(h);
      break;
    default: h.expect_code(MOTE_FUZZ_CALL(h, mote_instance_reset_state)(handle_of(i)), {i != nullptr ? MOTE_OK : MOTE_INVALID_ARGUMENT});
  }
}

}  // namespace mote::fuzz
