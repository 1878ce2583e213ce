// A QEMU plugin that counts executed instructions between marks of the guest: hint #112 begins a count, hint #120 ends it and prints it,
// one line each. Both are no-operations on every 64-bit Arm processor. The few declarations of QEMU's plugin interface (version 1) that
// are used stand here, because Debian ships no header for it.

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

typedef uint64_t PluginId;
typedef void (*BlockFn)(PluginId id, void* block);
typedef void (*InstructionFn)(unsigned cpu, void* user);
void qemu_plugin_register_vcpu_tb_trans_cb(PluginId id, BlockFn f);
void qemu_plugin_register_vcpu_insn_exec_cb(void* instruction, InstructionFn f, int flags, void* user);
void qemu_plugin_register_vcpu_insn_exec_inline(void* instruction, int operation, void* counter, uint64_t value);
size_t qemu_plugin_tb_n_insns(const void* block);
void* qemu_plugin_tb_get_insn(const void* block, size_t index);
const void* qemu_plugin_insn_data(const void* instruction);

__attribute__((visibility("default"))) int qemu_plugin_version = 1;

static uint64_t executed, began;

static void begin(unsigned cpu, void* user) {
  (void)cpu, (void)user;
  began = executed;
}

static void end(unsigned cpu, void* user) {
  (void)cpu, (void)user;
  // Without the mark itself.
  fprintf(stderr, "instructions %llu\n", (unsigned long long)(executed - began - 1));
}

static void translate(PluginId id, void* block) {
  (void)id;
  const size_t count = qemu_plugin_tb_n_insns(block);
  for (size_t i = 0; i < count; ++i) {
    void* instruction = qemu_plugin_tb_get_insn(block, i);
    uint32_t word;
    memcpy(&word, qemu_plugin_insn_data(instruction), sizeof word);
    qemu_plugin_register_vcpu_insn_exec_inline(instruction, 0, &executed, 1);
    const uint32_t hint = (word & 0xfffff01fu) == 0xd503201fu ? word >> 5 & 127 : 0;
    if (hint == 112) qemu_plugin_register_vcpu_insn_exec_cb(instruction, begin, 0, NULL);
    if (hint == 120) qemu_plugin_register_vcpu_insn_exec_cb(instruction, end, 0, NULL);
  }
}

__attribute__((visibility("default"))) int qemu_plugin_install(PluginId id, const void* info, int count, char** arguments) {
  (void)info, (void)count, (void)arguments;
  qemu_plugin_register_vcpu_tb_trans_cb(id, translate);
  return 0;
}
