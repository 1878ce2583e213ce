// Tells which operators and element types programs use: one line "id:types:forms" per operator, over all files named.
// Built with the host's compiler while configuring (see MoteSelect.cmake); reads files with Mote's own reader.

#include <cstdio>
#include <cstring>
#include <fstream>
#include <iterator>
#include <map>
#include <vector>

#include "mote/format/reader.h"
#include "mote/ops/q_conv/q_conv.h"

namespace {

struct Used {
  mote::DTypeMask types = 0;
  uint32_t forms = 0;  // 1 for operators that have but one
};

bool read_file(const char* path, std::vector<uint64_t>* words, size_t* size) {
  std::ifstream in(path, std::ios::binary);
  if (!in) return false;
  const std::vector<char> bytes{std::istreambuf_iterator<char>(in), {}};
  *size = bytes.size();
  words->assign(bytes.size() / 8 + 2, 0);
  for (size_t i = 0; i < bytes.size(); ++i) reinterpret_cast<char*>(words->data())[i] = bytes[i];
  return true;
}

uint32_t form_of(const mote::ProgramTable& table, const mote::Instruction& n) {
  namespace conv = mote::ops::q_conv;
  if (n.op != static_cast<uint16_t>(mote::OpId::q_conv)) return 1;
  conv::Attrs attrs;
  std::memset(static_cast<void*>(&attrs), 0, sizeof attrs);
  std::memcpy(static_cast<void*>(&attrs), table.attrs.data + n.attrs, n.attrs_size < sizeof attrs ? n.attrs_size : sizeof attrs);
  return conv::form_of(attrs, n.input_count > conv::kResidual && table.operands[n.operands + conv::kResidual] >= 0);
}

// Adds to `used` the types of all operands and the form of every operator in the table.
void scan(const mote::ProgramTable& table, std::map<uint16_t, Used>* used) {
  for (const mote::Instruction& n : table.instructions) {
    if (n.op >= mote::kFirstCustomOp) continue;  // control, or the program's user brings the kernel
    mote::DTypeMask mask = 0;
    for (uint32_t i = 0; i < uint32_t{n.input_count} + n.output_count; ++i) {
      const int32_t tensor = table.operands[n.operands + i];
      if (tensor >= 0) mask |= mote::mask_of(table.tensors[static_cast<uint32_t>(tensor)].dtype);
    }
    Used& u = (*used)[n.op];
    u.types |= mask;
    u.forms |= form_of(table, n);
  }
}

}  // namespace

int main(int argc, char** argv) {
  std::map<uint16_t, Used> used;
  for (int i = 1; i < argc; ++i) {
    std::vector<uint64_t> words;
    size_t size = 0;
    if (!read_file(argv[i], &words, &size)) {
      std::fprintf(stderr, "cannot read '%s'\n", argv[i]);
      return 1;
    }
    mote::ProgramTable table;
    mote::Diagnostic diagnostic;
    const mote::Status status = mote::read_table({reinterpret_cast<const uint8_t*>(words.data()), size}, size, &table, &diagnostic);
    if (!status.ok()) {
      std::fprintf(stderr, "'%s': %s: %s\n", argv[i], mote::status_text(status.code()), mote::why_text(status.why()));
      return 1;
    }
    scan(table, &used);
  }
  for (const auto& [op, u] : used) std::printf("%u:0x%x:0x%x\n", unsigned{op}, unsigned{u.types}, unsigned{u.forms});
  return 0;
}
