// mote package: models in the field (docs/fleet.md).

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <set>

#include "mote/fleet/base/digest.h"
#include "mote/fleet/base/error.h"
#include "mote/fleet/base/text.h"
#include "mote/fleet/package/mapped.h"
#include "mote/fleet/package/package.h"
#include "mote/fleet/package/provenance.h"
#include "mote/tools/commands.h"
#include "mote/tools/failure.h"
#include "mote/tools/json_out.h"
#include "mote/tools/program_view.h"
#include "mote/tools/text_table.h"

namespace mote::tools {
namespace {

namespace pkg = fleet::package;

struct PackageSettings {
  std::string file, sbom, key, signature;
  std::vector<std::string> models, extra;
  pkg::Manifest manifest;
  bool json = false;
};

// What a program needs of a device, instruction sets apart: those are the publisher's to say.
pkg::Requirements needs_of(const ProgramView& view) {
  pkg::Requirements needs;
  std::set<std::string> ops, dtypes;
  for (const Instruction& n : view.table().instructions) ops.insert(view.op_name(n));
  for (const TensorDesc& t : view.table().tensors) dtypes.insert(mote_dtype_name(static_cast<mote_dtype>(t.dtype)));
  needs.ops.assign(ops.begin(), ops.end());
  needs.dtypes.assign(dtypes.begin(), dtypes.end());
  for (const BackendRecord& b : view.table().backends) needs.backends.push_back(view.string(b.name));
  for (const Bank& b : view.table().banks) needs.ram_bytes += b.size;
  if (view.table().certificate) needs.ram_bytes += view.table().certificate->needs.instance_bytes_64;
  return needs;
}

// MODEL.mote[@isa,isa]: the file and the instruction sets that its kernels were chosen for.
pkg::Variant make_variant(const std::string& argument, std::string* path) {
  const size_t at = argument.rfind('@');
  *path = argument.substr(0, at);
  pkg::Variant v;
  v.file = std::filesystem::path(*path).filename().string();
  const ProgramView view(*path);
  v.needs = needs_of(view);
  for (size_t from = at; from != std::string::npos;) {
    const size_t comma = argument.find(',', from + 1);
    v.needs.isa.push_back(argument.substr(from + 1, comma == std::string::npos ? comma : comma - from - 1));
    from = comma;
  }
  if (view.table().goldens.empty())
    std::fprintf(stderr, "mote: %s has no golden examples: a device can open it, but not tell whether its results are right\n",
                 path->c_str());
  return v;
}

void create(const PackageSettings& s) {
  fleet::SystemFiles files;
  pkg::Manifest manifest = s.manifest;
  std::vector<pkg::SourceFile> sources;
  for (const std::string& model : s.models) {
    std::string path;
    manifest.variants.push_back(make_variant(model, &path));
    sources.push_back({std::filesystem::path(path).filename().string(), path});
  }
  for (const std::string& path : s.extra) sources.push_back({std::filesystem::path(path).filename().string(), path});
  if (!s.sbom.empty()) {
    sources.push_back({std::filesystem::path(s.sbom).filename().string(), s.sbom});
    manifest.sbom_sha256 = fleet::digest_file(files, s.sbom);
  }
  pkg::create(files, manifest, sources, s.file);
  std::printf("%s: %s %s, %s\n", s.file.c_str(), manifest.id.c_str(), manifest.version.c_str(),
              bytes_text(files.size(s.file).value_or(0)).c_str());
}

std::string gate_text(const pkg::HealthGate& g) {
  std::string out = g.golden ? "golden examples" : "no golden examples";
  if (g.p99_us > 0) out += ", p99 " + number(g.p99_us) + " us";
  if (g.ram_bytes > 0) out += ", memory " + bytes_text(g.ram_bytes);
  out += ", " + number(g.crashes) + " crashes";
  if (g.soak_seconds > 0) out += ", soak " + number(g.soak_seconds) + " s";
  return out + (g.confirmation ? ", the application's confirmation" : "");
}

void print_header(const PackageSettings& s, const pkg::Header& h) {
  const pkg::Manifest& m = h.manifest;
  if (s.json) {
    Json out = Json::parse(pkg::manifest_text(m));
    out["header_sha256"] = fleet::to_hex(h.sha256);
    return print_json(out);
  }
  TextTable about({"", ""}), variants({"variant", "isa", "backends", "types", "operators", "RAM"}), contents({"file", "bytes", "SHA-256"});
  about.add({"id", m.id});
  about.add({"version", m.version + ", security counter " + std::to_string(m.security_counter)});
  about.add({"runtime", m.runtime_min + (m.runtime_below.empty() ? " or later" : " to below " + m.runtime_below)});
  about.add({"licence", m.licence});
  about.add({"data class", m.data_class});
  about.add({"SBOM", m.sbom_sha256.empty() ? "none" : "SHA-256 " + fleet::to_hex(m.sbom_sha256)});
  about.add({"storage", bytes_text(h.bytes + m.payload_bytes) + ", a digest of each MiB (" + number(m.chunks.size()) + ")"});
  about.add({"health gate", gate_text(m.health)});
  std::printf("%s", about.text().c_str());
  for (const pkg::Variant& v : m.variants)
    variants.add({v.file, fleet::joined(v.needs.isa, " ", "any"), fleet::joined(v.needs.backends, " ", "cpu"),
                  fleet::joined(v.needs.dtypes, " "), std::to_string(v.needs.ops.size()), bytes_text(v.needs.ram_bytes)});
  for (const pkg::File& f : m.files) contents.add({f.name, number(f.bytes), fleet::to_hex(f.sha256)});
  std::printf("\n%s\n%s", variants.text().c_str(), contents.text().c_str());
}

std::string read_text(fleet::Files& files, const std::string& path) {
  auto text = fleet::read_file(files, path, 64 << 20);
  if (!text) throw Failure(path + " does not exist");
  return *text;
}

void sign(const PackageSettings& s) {
  fleet::SystemFiles files;
  const std::string pem = read_text(files, s.key);
  const auto key = fleet::within(s.key, [&] { return fleet::PrivateKey::from_pem(pem); });
  fleet::replace_file(files, s.signature, fleet::package::sign_model(files, s.file, key, s.signature));
}

void verify_provenance(const PackageSettings& s) {
  fleet::SystemFiles files;
  if (s.key.empty()) throw usage("--signature needs --public-key");
  pkg::verify_model(files, s.file, read_text(files, s.signature), read_text(files, s.key), s.signature);
  if (s.json) return print_json({{"file", s.file}, {"ok", true}, {"signature", s.signature}});
  std::printf("%s: ok: as %s says\n", s.file.c_str(), s.signature.c_str());
}

void compare(const std::string& what, const std::string& where, std::vector<std::string> stated, std::vector<std::string> found) {
  std::sort(stated.begin(), stated.end());
  std::sort(found.begin(), found.end());
  if (stated == found) return;
  throw Failure(where + ": the manifest's " + what + " are not the program's: expected " + fleet::joined(found, " ", "none") + ", found " +
                fleet::joined(stated, " ", "none"));
}

// A device chooses by what the manifest says before it has the program: that must be what the program says. Digests do not tell, where
// the manifest was changed before it was signed.
void compare_needs(const PackageSettings& s, const pkg::Mapped& package, const pkg::Header& h) {
  for (const pkg::Variant& v : h.manifest.variants) {
    const std::string where = s.file + ": variant " + v.file;
    const std::string_view bytes = package.file(h, v.file);
    const pkg::Requirements found = needs_of(ProgramView(where, {reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size()}));
    compare("operators", where, v.needs.ops, found.ops);
    compare("element types", where, v.needs.dtypes, found.dtypes);
    compare("backends", where, v.needs.backends, found.backends);
    compare("bytes of memory", where, {std::to_string(v.needs.ram_bytes)}, {std::to_string(found.ram_bytes)});
  }
}

void verify(const PackageSettings& s) {
  if (!s.signature.empty()) return verify_provenance(s);
  fleet::SystemFiles files;
  const pkg::Mapped package(files.map(s.file), s.file);
  const pkg::Header h = package.verify();
  compare_needs(s, package, h);
  if (s.json) return print_json({{"file", s.file}, {"ok", true}, {"id", h.manifest.id}, {"version", h.manifest.version}});
  std::printf("%s: ok: %s %s, %zu files, every byte and every program as the manifest says\n", s.file.c_str(), h.manifest.id.c_str(),
              h.manifest.version.c_str(), h.manifest.files.size());
}

void add_create_options(CLI::App* c, PackageSettings& s) {
  pkg::Manifest& m = s.manifest;
  m.version = "1.0.0";
  m.runtime_min = "0.1.0";
  m.data_class = "unknown";
  m.licence = "unknown";
  c->add_option("PACKAGE", s.file, "package to write (.mpkg)")->required();
  c->add_option("MODEL", s.models, "programs, best first: FILE.mote[@isa,isa]")->required();
  c->add_option("--id", m.id, "name of the model, the same for all its versions")->required();
  c->add_option("--model-version", m.version, "MAJOR.MINOR.PATCH")->capture_default_str();
  c->add_option("--security-counter", m.security_counter, "devices refuse lower ones than they have confirmed")->capture_default_str();
  c->add_option("--runtime-min", m.runtime_min, "oldest runtime that can run it")->capture_default_str();
  c->add_option("--runtime-below", m.runtime_below, "first runtime that cannot");
  c->add_option("--licence", m.licence, "SPDX expression")->capture_default_str();
  c->add_option("--data-class", m.data_class, "class of the data that it works on: public, personal, ...")->capture_default_str();
  c->add_option("--sbom", s.sbom, "bill of materials, packed too");
  c->add_option("--extra", s.extra, "other files to pack: golden data, labels");
  c->add_option("--gate-p99-us", m.health.p99_us, "health gate: latency that 99 % of runs keep (0: not looked at)");
  c->add_option("--gate-ram", m.health.ram_bytes, "health gate: bytes of memory (0: not looked at)");
  c->add_option("--gate-soak", m.health.soak_seconds, "health gate: seconds that the trial lasts");
  c->add_option("--gate-crashes", m.health.crashes, "health gate: crashes that are forgiven");
  c->add_flag("--gate-golden,!--no-gate-golden", m.health.golden, "health gate: golden examples must pass (default: yes)");
  c->add_flag("--gate-confirmation", m.health.confirmation, "health gate: the application must call confirm()");
}

}  // namespace

void add_package(CLI::App& app, Context& context) {
  auto s = std::make_shared<PackageSettings>();
  CLI::App* c = app.add_subcommand("package", "Pack models for the field, and look into packages");
  c->require_subcommand(1);
  CLI::App* make = c->add_subcommand("create", "Write a package");
  add_create_options(make, *s);
  make->callback([s] { create(*s); });
  CLI::App* inspect = c->add_subcommand("inspect", "Print what a package says of itself");
  CLI::App* check = c->add_subcommand("verify", "Read every byte and program and compare them with the manifest");
  check->add_option("--signature", s->signature, "verify a model-signing bundle over a file or folder instead");
  check->add_option("--public-key", s->key, "key of the bundle (PEM)");
  CLI::App* sign_it = c->add_subcommand("sign", "Write a model-signing bundle (OpenSSF) over a package, or any file or folder");
  sign_it->add_option("PATH", s->file, "package, file or folder")->required();
  sign_it->add_option("--key", s->key, "private key (PEM, P-256 or P-384)")->required();
  sign_it->add_option("--signature", s->signature, "bundle to write")->required();
  sign_it->callback([s] { sign(*s); });
  for (CLI::App* sub : {inspect, check}) {
    sub->add_option("PACKAGE", s->file, "package (.mpkg)")->required();
    sub->add_flag("--json", s->json, "print JSON (docs/json.md)");
  }
  inspect->callback([s, &context] {
    context.json = s->json;
    fleet::SystemFiles files;
    print_header(*s, pkg::read_header(files, s->file));
  });
  check->callback([s, &context] {
    context.json = s->json;
    verify(*s);
  });
}

}  // namespace mote::tools
