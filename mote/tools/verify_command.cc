#include <cstdio>

#include "mote/tools/commands.h"
#include "mote/tools/json_out.h"
#include "mote/tools/program_options.h"
#include "mote/tools/text_table.h"

namespace mote::tools {
namespace {

struct VerifySettings {
  std::string file, weights;
  bool full = false, json = false;
};

void verify(const VerifySettings& s) {
  const Session session(s.file, {s.weights, s.full, {}, 1, {}});
  mote_certificate c{};
  c.struct_size = sizeof c;
  (void)mote_program_certificate(session.program(), &c);
  if (s.json) {
    print_json({{"file", s.file},
                {"ok", true},
                {"full", s.full},
                {"file_bytes", mote_program_file_bytes(session.program())},
                {"instructions", mote_program_instruction_count(session.program())}});
    return;
  }
  std::printf("%s: ok: %s, %s instructions, %s\n", s.file.c_str(), bytes_text(mote_program_file_bytes(session.program())).c_str(),
              number(mote_program_instruction_count(session.program())).c_str(),
              s.full ? "every segment has the digest the table states" : "structure and meaning verified (--full: digests too)");
}

}  // namespace

void add_verify(CLI::App& app, Context& context) {
  auto s = std::make_shared<VerifySettings>();
  CLI::App* c = app.add_subcommand("verify", "Check that a program is sound");
  c->add_option("FILE", s->file, "program (.mote)")->required();
  c->add_flag("--full", s->full, "read every byte and compare the digests of all segments");
  c->add_option("--weights", s->weights, kWeightsHelp);
  c->add_flag("--json", s->json, "print JSON (docs/json.md)");
  c->callback([s, &context] {
    context.json = s->json;
    verify(*s);
  });
}

}  // namespace mote::tools
