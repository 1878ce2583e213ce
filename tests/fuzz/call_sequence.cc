#include "tests/fuzz/call_sequence.h"

#include "tests/fuzz/call_state.h"

namespace mote::fuzz {

Handles::~Handles() {
  for (InstanceState& i : instances) mote_instance_destroy(i.handle);
  for (const ProgramState& p : programs) mote_program_release(p.handle);
  mote_registry_release(registry);
  mote_cancel_destroy(cancel);
  mote_error_destroy(error);
}

InstanceState* Handles::any_instance() {
  if (instances.empty() || dice.chance(3)) return nullptr;
  auto it = instances.begin();
  std::advance(it, dice.below(static_cast<uint32_t>(instances.size())));
  return &*it;
}

ProgramState* Handles::any_program() {
  if (programs.empty() || dice.chance(3)) return nullptr;
  ProgramState* p = &programs[dice.below(static_cast<uint32_t>(programs.size()))];
  return p->handle != nullptr ? p : nullptr;
}

void Handles::expect_code(mote_status status, std::initializer_list<mote_code> codes) {
  if (status != MOTE_OK) ++tally->refused;
  std::string names;
  for (const mote_code c : codes) {
    if (mote_status_code(status) == c) return;
    names += (names.empty() ? "" : " or ") + std::string(mote_code_name(c));
  }
  expect(false, std::string("expected ") + names + ", found " + mote_code_name(mote_status_code(status)) + " (" +
                    mote_why_name(mote_status_why(status)) + ")");
}

void call_release(Handles& h) {
  Dice& d = h.dice;
  if (d.chance(50)) {
    InstanceState* i = h.any_instance();
    MOTE_FUZZ_CALL(h, mote_instance_destroy)(i != nullptr ? i->handle : nullptr);
    if (i != nullptr) h.instances.remove_if([&](const InstanceState& s) { return &s == i; });
    return;
  }
  ProgramState* p = h.any_program();
  mote_program* handle = p != nullptr ? p->handle : nullptr;
  h.expect(MOTE_FUZZ_CALL(h, mote_program_retain)(handle) == handle, "retain returns its argument");
  MOTE_FUZZ_CALL(h, mote_program_release)(handle);
  // Instances keep a program that its owner has released; it is asked no more.
  bool used = false;
  for (const InstanceState& i : h.instances) used |= p == &h.programs[i.program];
  if (p == nullptr || used || d.chance(50)) return;
  MOTE_FUZZ_CALL(h, mote_program_release)(handle);
  p->handle = nullptr;
}

std::string run_call_sequence(Dice& dice, uint32_t count, CallTally* tally) {
  Handles h(dice, tally);
  h.error = mote_error_create();
  for (uint32_t i = 0; i < count && h.wrong.empty(); ++i) {
    const uint32_t kind = dice.below(100);
    if (h.programs.empty() || (kind < 4 && h.programs.size() < 3)) call_open(h);
    else if (h.instances.empty() || (kind < 8 && h.instances.size() < 3)) call_create(h);
    else if (kind < 12) call_about_library(h);
    else if (kind < 15) call_registry(h);
    else if (kind < 20) call_describe(h);
    else if (kind < 65) call_io(h);
    else if (kind < 97) call_run(h);
    else call_release(h);
  }
  if (h.wrong.empty()) return "";
  std::string text = h.wrong + "; the last calls were";
  for (size_t i = h.trail.size() > 30 ? h.trail.size() - 30 : 0; i < h.trail.size(); ++i) text += " " + h.trail[i];
  return text;
}

}  // namespace mote::fuzz
