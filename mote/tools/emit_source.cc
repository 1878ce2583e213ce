#include "mote/tools/emit_source.h"

#include <cstdio>
#include <filesystem>

#include "mote/tools/failure.h"
#include "mote/tools/json_out.h"
#include "mote/tools/target_file.h"

namespace mote::tools {
namespace {

constexpr uint32_t kAlignment = 16;

emit::Isa isa_of(const target::Target& target) { return target.kernels == "helium" ? emit::Isa::kHelium : emit::Isa::kDsp; }

unsigned long long count(uint64_t v) { return v; }

emit::CppOptions cpp_options_of(const std::string& output, const std::string& target, const driver::CompileOptions& options) {
  emit::CppOptions how;
  how.name = std::filesystem::path(output).stem().string();
  how.isa = isa_of(options.target);
  how.alignment = std::max(kAlignment, options.plan.alignment);
  for (const schedule::Bank& b : options.plan.banks) how.banks.push_back({b.name, "", b.limit});
  if (const auto board = target.empty() || target::named(target) != nullptr ? std::nullopt : load_board(target)) {
    how.flash_bytes = board->flash_bytes;
    for (const target::BoardBank& bank : board->banks)
      for (emit::CppBank& b : how.banks)
        if (b.name == bank.name) b.section = bank.section;
  }
  return how;
}

uint64_t tensor_bytes(const program::ProgramRecords& records) {
  uint64_t bytes = 0;
  for (const Bank& b : records.banks) bytes += b.size;
  return bytes;
}

}  // namespace

void plan_for_source(const std::string& output, const std::string& target, driver::CompileOptions* options) {
  if (options->plan.banks.empty() || options->plan.alignment == schedule::PlanOptions{}.alignment) options->plan.alignment = kAlignment;
  options->plan.overlap_rows = false;  // kernels in order need no strips for that
  options->plan.in_order = [isa = isa_of(options->target)](const schedule::Plan& p) { return emit::steps_in_order(p, isa); };
  // What cannot be emitted is reported when it is, with its reason.
  options->scratch_bytes = [how = cpp_options_of(output, target, *options)](const program::ProgramRecords& records) {
    emit::CppFiles files;
    std::string ignored;
    return emit::emit_cpp(records, how, &files, &ignored) ? files.ram_bytes - tensor_bytes(records) : 0;
  };
}

void quantize_for_source(QuantizeSettings* quantize) {
  quant::Scheme scheme = quant::Scheme::kInt8;
  quantize->fixed_point |= quant::scheme_named(quantize->scheme, &scheme) && quant::is_static(scheme);
}

emit::CppFiles emit_source(const std::string& output, const std::string& target, const driver::CompileOptions& options,
                           const driver::CompileResult& result) {
  const std::filesystem::path path(output);
  emit::CppFiles files;
  std::string error;
  if (!emit::emit_cpp(result.emitted, cpp_options_of(output, target, options), &files, &error)) throw Failure("--emit cpp: " + error);
  for (const auto& [extension, text] : {std::pair(".h", &files.header), std::pair(".cc", &files.source)}) {
    const std::string to = (path.parent_path() / (files.name + extension)).string();
    if (!emit::save_file(to, {reinterpret_cast<const uint8_t*>(text->data()), text->size()}, &error)) throw Failure(error);
  }
  return files;
}

void print_source(const std::string& model, const emit::CppFiles& files, const driver::CompileResult& r, bool json) {
  if (json) {
    print_json({{"name", files.name},
                {"ram_bytes", files.ram_bytes},
                {"scratch_bytes", files.ram_bytes - r.peak_bytes},
                {"apart_bytes", r.apart_bytes},
                {"constant_bytes", files.constant_bytes},
                {"portable", files.portable}});
    return;
  }
  std::printf("%s -> %s.h, %s.cc\n", model.c_str(), files.name.c_str(), files.name.c_str());
  std::printf("  memory           %llu B: tensors %llu B", count(files.ram_bytes), count(r.peak_bytes));
  if (r.apart_bytes > r.peak_bytes) std::printf(" (%llu B if none lay on its input)", count(r.apart_bytes));
  std::printf(", scratch %llu B\n  constants        %llu B\n", count(files.ram_bytes - r.peak_bytes), count(files.constant_bytes));
  std::string list;
  for (const std::string& name : files.portable) list += (list.empty() ? "" : ", ") + name;
  if (!list.empty()) std::printf("  portable kernels %s\n", list.c_str());
}

}  // namespace mote::tools
