#include "mote/compiler/emit/writer.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>

#include "mote/format/reader.h"
#include "mote/format/sha256.h"
#include "mote/ops/op_docs.h"
#include "mote/runtime/program.h"
#include "program_generated.h"

namespace mote::emit {
namespace {

template <class Fb, class Plain>
flatbuffers::Offset<flatbuffers::Vector<const Fb*>> structs(flatbuffers::FlatBufferBuilder& b, const std::vector<Plain>& v) {
  static_assert(sizeof(Fb) == sizeof(Plain), "program.h and program.fbs must agree");
  return b.CreateVectorOfStructs(reinterpret_cast<const Fb*>(v.data()), v.size());
}

std::vector<uint8_t> make_table(const ProgramRecords& r, const Certificate& certificate, const std::vector<Segment>& segments) {
  flatbuffers::FlatBufferBuilder b(65536);
  std::vector<OpName> names = r.op_names;
  std::sort(names.begin(), names.end(), [](const OpName& x, const OpName& y) { return x.op < y.op; });
  // Attributes are read as structs of 32-bit fields in place.
  b.ForceVectorAlignment(r.attrs.size(), 1, 4);
  const auto attrs = b.CreateVector(r.attrs);
  const auto strings = b.CreateVector(r.strings.bytes());
  const auto features = b.CreateVector(r.required_features);
  const auto banks = structs<fb::Bank>(b, r.banks);
  const auto segment_list = structs<fb::Segment>(b, segments);
  const auto tensors = structs<fb::Tensor>(b, r.tensors);
  const auto operands = b.CreateVector(r.operands);
  const auto instructions = structs<fb::Instruction>(b, r.instructions);
  const auto methods = structs<fb::Method>(b, r.methods);
  const auto ios = structs<fb::Io>(b, r.ios);
  const auto states = structs<fb::State>(b, r.states);
  const auto steps = structs<fb::Step>(b, r.steps);
  const auto op_names = structs<fb::OpName>(b, names);
  const auto source_names = b.CreateVector(r.source_names);
  const auto backends = structs<fb::Backend>(b, r.backends);
  const auto placements = structs<fb::Placement>(b, r.placements);
  const auto goldens = structs<fb::Golden>(b, r.goldens);
  const auto quants = structs<fb::Quant>(b, r.quants);
  const auto metadata = structs<fb::Pair>(b, r.metadata);
  const auto evidence = structs<fb::Pair>(b, r.evidence);
  fb::ProgramBuilder p(b);
  p.add_format_major(r.major);
  p.add_format_minor(r.minor);
  p.add_strings(strings);
  p.add_requires_(features);
  p.add_certificate(reinterpret_cast<const fb::Certificate*>(&certificate));
  p.add_banks(banks);
  p.add_segments(segment_list);
  p.add_tensors(tensors);
  p.add_operands(operands);
  p.add_attrs(attrs);
  p.add_instructions(instructions);
  p.add_methods(methods);
  p.add_ios(ios);
  p.add_states(states);
  p.add_steps(steps);
  p.add_op_names(op_names);
  p.add_source_names(source_names);
  p.add_backends(backends);
  p.add_placements(placements);
  p.add_policy(r.policy);
  p.add_goldens(goldens);
  p.add_quants(quants);
  p.add_metadata(metadata);
  p.add_evidence(evidence);
  fb::FinishSizePrefixedProgramBuffer(b, p.Finish());
  return {b.GetBufferPointer(), b.GetBufferPointer() + b.GetSize()};
}

uint64_t size_of(const SegmentData& s) { return std::max<uint64_t>(s.bytes.size(), s.reserve); }

// SHA-256 of each segment. A signature is made over the table, so its own digest cannot be in there.
struct Digest {
  uint8_t bytes[32] = {};
};
std::vector<Digest> digests_of(const ProgramRecords& r) {
  std::vector<Digest> out(r.segments.size());
  for (size_t i = 0; i < out.size(); ++i) {
    const SegmentData& s = r.segments[i];
    if (s.kind == SegmentKind::kSignature) continue;
    Sha256 sha;
    sha.update({s.bytes.data(), s.bytes.size()});
    const std::vector<uint8_t> rest(static_cast<size_t>(size_of(s) - s.bytes.size()));
    sha.update({rest.data(), rest.size()});
    sha.finish(out[i].bytes);
  }
  return out;
}

// Places segments behind a table of this size, each at its alignment.
std::vector<Segment> place_segments(const ProgramRecords& r, const std::vector<Digest>& digests, uint32_t alignment, uint64_t table_size) {
  std::vector<Segment> out;
  uint64_t at = table_size;
  uint64_t external = 0;
  for (size_t i = 0; i < r.segments.size(); ++i) {
    const SegmentData& s = r.segments[i];
    Segment g{};
    g.kind = s.kind;
    g.flags = s.flags;
    g.alignment = alignment;
    g.size = size_of(s);
    uint64_t& next = (s.flags & kExternal) != 0 ? external : at;
    g.offset = (next + alignment - 1) / alignment * alignment;
    next = g.offset + g.size;
    std::memcpy(g.sha256, digests[i].bytes, sizeof g.sha256);
    out.push_back(g);
  }
  return out;
}

FileBytes aligned_copy(const std::vector<uint8_t>& bytes) {
  FileBytes f = FileBytes::of_size(bytes.size());
  if (!bytes.empty()) std::memcpy(f.data(), bytes.data(), bytes.size());
  return f;
}

// The whole file, its table to be written by put_table.
FileBytes lay_out(const ProgramRecords& r, const std::vector<Segment>& segments, size_t table_size) {
  size_t size = table_size;
  for (const Segment& s : segments)
    if ((s.flags & kExternal) == 0) size = std::max<size_t>(size, static_cast<size_t>(s.offset + s.size));
  FileBytes f = FileBytes::of_size(size);
  for (size_t i = 0; i < segments.size(); ++i)
    if ((segments[i].flags & kExternal) == 0 && !r.segments[i].bytes.empty())
      std::memcpy(f.data() + segments[i].offset, r.segments[i].bytes.data(), r.segments[i].bytes.size());
  return f;
}

void put_table(const ProgramRecords& r, const Certificate& certificate, const std::vector<Segment>& segments, FileBytes* file) {
  const std::vector<uint8_t> table = make_table(r, certificate, segments);
  std::memcpy(file->data(), table.data(), table.size());
}

// What an instance needs, from the verifier.
bool measure(const ProgramRecords& r, const std::vector<Segment>& segments, const FileBytes& file, const OpRegistry& ops,
             CertifiedNeeds* needs, std::string* error) {
  std::vector<FileBytes> external;  // a vector's own bytes may be less aligned than segments must be
  std::vector<ConstBytes> parts;
  for (size_t i = 0; i < segments.size(); ++i) {
    if ((segments[i].flags & kExternal) != 0) external.push_back(aligned_copy(r.segments[i].bytes));
    parts.push_back((segments[i].flags & kExternal) != 0
                        ? external.back().span()
                        : ConstBytes{file.data() + segments[i].offset, static_cast<size_t>(segments[i].size)});
  }
  Program program;
  Diagnostic d;
  ProgramSource source;
  source.file = file.span();
  source.segments = {parts.data(), parts.size()};
  if (!Program::open_uncertified(source, ops, &program, &d).ok()) {
    *error = describe(d);
    return false;
  }
  *needs = program.needs().stated;
  return true;
}

}  // namespace

bool read_records(ConstBytes file, ProgramRecords* out) {
  ProgramTable t;
  if (!read_table(file, file.size, &t, nullptr).ok()) return false;
  auto list = [](const auto& span, auto& vector) { vector.assign(span.begin(), span.end()); };
  ProgramRecords r;
  r.major = t.major;
  r.minor = t.minor;
  r.strings = StringPool::from(t.strings);
  list(t.requires_, r.required_features);
  r.certificate = *t.certificate;
  list(t.banks, r.banks);
  list(t.tensors, r.tensors);
  list(t.operands, r.operands);
  list(t.attrs, r.attrs);
  list(t.instructions, r.instructions);
  list(t.methods, r.methods);
  list(t.ios, r.ios);
  list(t.states, r.states);
  list(t.steps, r.steps);
  list(t.op_names, r.op_names);
  list(t.source_names, r.source_names);
  list(t.backends, r.backends);
  list(t.placements, r.placements);
  r.policy = t.policy;
  list(t.goldens, r.goldens);
  list(t.quants, r.quants);
  list(t.metadata, r.metadata);
  list(t.evidence, r.evidence);
  for (const Segment& s : t.segments) {
    SegmentData data;
    data.kind = s.kind;
    data.flags = s.flags;
    data.reserve = s.size;
    if ((s.flags & kExternal) == 0) data.bytes.assign(file.data + s.offset, file.data + s.offset + s.size);
    r.segments.push_back(data);
  }
  *out = std::move(r);
  return true;
}

bool write_program(const ProgramRecords& records, const WriteOptions& options, const OpRegistry& ops, FileBytes* out, std::string* error) {
  Certificate certificate = records.certificate;
  certificate.constant_bytes = 0;
  for (const SegmentData& s : records.segments)
    if (s.kind == SegmentKind::kConstants) certificate.constant_bytes += size_of(s);
  const std::vector<Digest> digests = options.digests ? digests_of(records) : std::vector<Digest>(records.segments.size());
  const size_t table_size = make_table(records, certificate, std::vector<Segment>(records.segments.size())).size();
  const std::vector<Segment> segments = place_segments(records, digests, options.segment_alignment, table_size);
  FileBytes file = lay_out(records, segments, table_size);
  put_table(records, certificate, segments, &file);
  if (options.verify) {
    if (!measure(records, segments, file, ops, &certificate.needs, error)) return false;
    put_table(records, certificate, segments, &file);
  }
  *out = std::move(file);
  return true;
}

bool save_file(const std::string& path, ConstBytes bytes, std::string* error) {
  const std::string temporary = path + ".tmp";
  std::FILE* f = std::fopen(temporary.c_str(), "wb");
  if (f == nullptr) {
    *error = temporary + ": cannot be created: " + std::strerror(errno);
    return false;
  }
  const bool written = std::fwrite(bytes.data, 1, bytes.size, f) == bytes.size && std::fflush(f) == 0;
  const int write_error = errno;
  const bool closed = std::fclose(f) == 0;
  if (written && closed && std::rename(temporary.c_str(), path.c_str()) == 0) return true;
  *error = path + ": cannot be written: " + std::strerror(written ? errno : write_error);
  std::remove(temporary.c_str());
  return false;
}

}  // namespace mote::emit
