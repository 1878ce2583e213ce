#include "mote/compiler/frontends/executorch/program.h"

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "flat_tensor_generated.h"

namespace mote::frontends::executorch {
namespace {

constexpr flatbuffers::uoffset_t kProgramDepth = 64, kProgramTables = 4000000;
constexpr size_t kHeaderAt = 8, kHeaderSize = 24;  // behind the root offset and the identifier
constexpr size_t kMostDataFiles = 64;              // .ptd files that are looked at beside a program

template <class T>
T number_at(const uint8_t* p) {
  T v;
  std::memcpy(&v, p, sizeof v);
  return flatbuffers::EndianScalar(v);
}

ir::Bytes part(const ir::Bytes& whole, uint64_t begin, uint64_t size) {
  return {whole.owner, whole.data + begin, static_cast<size_t>(size)};
}

std::optional<ir::Bytes> checked_part(const ir::Bytes& whole, uint64_t begin, uint64_t size) {
  if (begin > whole.size || size > whole.size - begin) return std::nullopt;
  return part(whole, begin, size);
}

// Segments count from a base; base + offset must not wrap.
std::optional<ir::Bytes> segment_part(const ir::Bytes& whole, uint64_t base, uint64_t offset, uint64_t size) {
  if (base > whole.size || offset > whole.size - base) return std::nullopt;
  return checked_part(whole, base + offset, size);
}

ir::Bytes read_whole(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary | std::ios::ate);
  const std::streamoff size = in ? static_cast<std::streamoff>(in.tellg()) : 0;
  if (size <= 0) return {};
  std::vector<uint8_t> bytes(static_cast<size_t>(size));
  in.seekg(0);
  in.read(reinterpret_cast<char*>(bytes.data()), size);
  return in.gcount() == size ? ir::Bytes::own(std::move(bytes)) : ir::Bytes{};
}

}  // namespace

std::string text_of(const flatbuffers::String* s) { return s == nullptr ? std::string() : std::string(s->c_str(), s->size()); }

bool is_program(const Source& source) {
  return source.bytes.size >= kHeaderAt && std::memcmp(source.bytes.data + 4, fb::ProgramIdentifier(), 4) == 0;
}

bool Program::wrong(const std::string& what) {
  problems_->push_back({"file", what, "the file is damaged or was not made by ExecuTorch 1.x; export it again"});
  return false;
}

bool Program::read(const Source& source, ir::Problems* problems) {
  bytes_ = source.bytes;
  problems_ = problems;
  if (!is_program(source)) return wrong("expected an ExecuTorch program (identifier ET12 at byte 4)");
  if (!read_header()) return false;
  flatbuffers::Verifier verifier(bytes_.data, static_cast<size_t>(program_size_), kProgramDepth, kProgramTables);
  if (!fb::VerifyProgramBuffer(verifier)) return wrong("the FlatBuffer is damaged: an offset or a length leads out of the file");
  table_ = fb::GetProgram(bytes_.data);
  if (table_->version() != 0) return wrong("expected schema version 0, found " + std::to_string(table_->version()));
  if (table_->execution_plan() == nullptr || table_->execution_plan()->size() == 0) return wrong("the program has no method");
  path_ = source.path;
  return read_segments();
}

// The header behind the identifier says where the FlatBuffer ends and the segments begin; programs without segments may have none.
bool Program::read_header() {
  program_size_ = bytes_.size;
  const uint8_t* p = bytes_.data + kHeaderAt;
  if (bytes_.size >= kHeaderAt + kHeaderSize && std::memcmp(p, "eh00", 4) == 0) {
    const auto length = number_at<uint32_t>(p + 4);
    program_size_ = number_at<uint64_t>(p + 8);
    segment_base_ = number_at<uint64_t>(p + 16);
    if (length < kHeaderSize) return wrong("expected a header of 24 bytes or more, found " + std::to_string(length));
    if (program_size_ < kHeaderAt + kHeaderSize || program_size_ > bytes_.size || segment_base_ > bytes_.size)
      return wrong("the header names " + std::to_string(program_size_) + " bytes of program and segments from byte " +
                   std::to_string(segment_base_) + ", the file has " + std::to_string(bytes_.size));
  }
  if (program_size_ > FLATBUFFERS_MAX_BUFFER_SIZE) return wrong("expected a program of less than 2 GB before its segments");
  return true;
}

bool Program::read_segments() {
  const auto* segments = table_->segments();
  for (uint32_t i = 0; segments != nullptr && i < segments->size(); ++i)
    if (!segment(i)) return wrong("segment " + std::to_string(i) + " lies behind the end of the file");
  const auto* named = table_->named_data();
  for (uint32_t i = 0; named != nullptr && i < named->size(); ++i) {
    const std::optional<ir::Bytes> data = segment(named->Get(i)->segment_index());
    if (!data) return wrong("named data '" + text_of(named->Get(i)->key()).substr(0, 200) + "' has no segment");
    named_.emplace(text_of(named->Get(i)->key()), *data);
  }
  return true;
}

std::optional<ir::Bytes> Program::segment(uint64_t index) const {
  const auto* segments = table_->segments();
  if (segments == nullptr || index >= segments->size()) return std::nullopt;
  const fb::DataSegment* s = segments->Get(static_cast<uint32_t>(index));
  return segment_part(bytes_, segment_base_, s->offset(), s->size());
}

std::optional<ir::Bytes> Program::from_offsets(const fb::SubsegmentOffsets* list, uint32_t index, uint64_t size) const {
  if (list == nullptr || list->offsets() == nullptr || index >= list->offsets()->size()) return std::nullopt;
  const std::optional<ir::Bytes> data = segment(list->segment_index());
  return data ? checked_part(*data, wide_at(*list->offsets(), index), size) : std::nullopt;
}

std::optional<ir::Bytes> Program::constant(uint32_t index, uint64_t size) const {
  const auto* inside = table_->constant_buffer();
  if (inside == nullptr || inside->size() == 0) return from_offsets(table_->constant_segment(), index, size);
  if (index >= inside->size() || inside->Get(index)->storage() == nullptr) return std::nullopt;
  const auto* storage = inside->Get(index)->storage();
  return checked_part({bytes_.owner, storage->data(), storage->size()}, 0, size);
}

std::optional<ir::Bytes> Program::initial(uint64_t list, uint32_t index, uint64_t size) const {
  const auto* lists = table_->mutable_data_segments();
  if (lists == nullptr || list >= lists->size()) return std::nullopt;
  return from_offsets(lists->Get(static_cast<uint32_t>(list)), index, size);
}

std::optional<ir::Bytes> Program::named(std::string_view key) const {
  auto it = named_.find(key);
  if (it == named_.end() && !files_read_) {
    files_read_ = true;
    read_data_files();
    it = named_.find(key);
  }
  return it == named_.end() ? std::nullopt : std::optional<ir::Bytes>(it->second);
}

std::optional<ir::Bytes> Program::payload(const fb::BackendDelegateDataReference* where) const {
  if (where == nullptr) return std::nullopt;
  if (where->location() == fb::DataLocation::SEGMENT) return segment(where->index());
  const auto* inside = table_->backend_delegate_data();
  if (inside == nullptr || where->index() >= inside->size()) return std::nullopt;
  const auto* data = inside->Get(where->index())->data();
  return data == nullptr ? ir::Bytes{bytes_.owner, bytes_.data, 0} : ir::Bytes{bytes_.owner, data->data(), data->size()};
}

// Data that was exported into files of its own lies in .ptd files of the program's folder, under names that the export chose.
void Program::read_data_files() const {
  std::error_code error;
  const std::filesystem::path file(path_);
  const std::filesystem::path folder = file.has_parent_path() ? file.parent_path() : std::filesystem::path(".");
  if (path_.empty() || !std::filesystem::is_regular_file(file, error)) return;
  std::vector<std::filesystem::path> found;
  for (const auto& entry : std::filesystem::directory_iterator(folder, error)) {
    if (found.size() >= kMostDataFiles) break;
    if (entry.path().extension() == ".ptd" && entry.is_regular_file(error)) found.push_back(entry.path());
  }
  std::sort(found.begin(), found.end());
  for (const auto& f : found) read_data_file(read_whole(f), &named_);
}

bool read_data_file(const ir::Bytes& bytes, std::map<std::string, ir::Bytes, std::less<>>* out) {
  constexpr size_t kEnd = kHeaderAt + 40;
  if (bytes.size < kEnd || std::memcmp(bytes.data + 4, ptd::FlatTensorIdentifier(), 4) != 0) return false;
  const uint8_t* header = bytes.data + kHeaderAt;
  if (std::memcmp(header, "FH01", 4) != 0) return false;
  const auto base = number_at<uint64_t>(header + 24);  // of the segments, which follow the FlatBuffer
  if (base < kEnd || base > bytes.size || base > FLATBUFFERS_MAX_BUFFER_SIZE) return false;
  flatbuffers::Verifier verifier(bytes.data, static_cast<size_t>(base), kProgramDepth, kProgramTables);
  if (!ptd::VerifyFlatTensorBuffer(verifier)) return false;
  const ptd::FlatTensor* t = ptd::GetFlatTensor(bytes.data);
  for (uint32_t i = 0; t->named_data() != nullptr && i < t->named_data()->size(); ++i) {
    const ptd::NamedData* n = t->named_data()->Get(i);
    if (t->segments() == nullptr || n->segment_index() >= t->segments()->size()) return false;
    const ptd::DataSegment* s = t->segments()->Get(n->segment_index());
    const std::optional<ir::Bytes> data = segment_part(bytes, base, s->offset(), s->size());
    if (!data) return false;
    out->emplace(text_of(n->key()), *data);
  }
  return true;
}

}  // namespace mote::frontends::executorch
