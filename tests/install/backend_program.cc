// backend_program.c with mote::Runtime.
#include <cstdio>
#include <cstring>

#include "mote/api/mote.hpp"

namespace {

int fail(const char* what, const mote::Error& error, int code) {
  std::fprintf(stderr, "%s: %s\n", what, error.message.c_str());
  return code;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) return 2;
  auto runtime = mote::Runtime::make({argv[2]});
  if (!runtime) return fail("no backend", runtime.error(), 4);
  std::vector<std::string> require;
  bool no_fallback = false;
  for (int i = 3; i < argc; ++i) {
    if (std::strcmp(argv[i], "require") == 0) require.push_back(argv[2]);
    no_fallback = no_fallback || std::strcmp(argv[i], "no-fallback") == 0;
  }
  runtime->set_policy(require, no_fallback);
  auto model = runtime->load(argv[1]);
  if (!model) return fail("refused", model.error(), 3);
  size_t i = 0;
  for (const mote::Part& p : model->parts())
    std::printf("part %zu: compiled for %s, runs on %s\n", i++, p.backend.c_str(), p.runs_on.c_str());
  const mote::Error degraded = model->degraded();
  std::printf("degraded: %s\n", degraded ? "yes" : "no");
  if (degraded) (void)fail("degraded", degraded, 0);
  const mote::SelfTest test = model->self_test();
  if (!test.passed()) return fail("self-test", test.error, 1);
  std::printf("self-test: %u outputs, %u wrong\n", test.outputs, test.failed);
  // And on the caller's own buffers.
  std::vector<std::vector<uint8_t>> buffers;
  std::vector<mote::InputView> inputs;
  std::vector<mote::OutputView> outputs;
  for (const mote::TensorSpec& s : model->inputs()) inputs.push_back(mote::input_bytes(buffers.emplace_back(s.bytes).data(), s.bytes));
  for (const mote::TensorSpec& s : model->outputs()) outputs.push_back(mote::output_bytes(buffers.emplace_back(s.bytes).data(), s.bytes));
  if (const mote::Error error = model->run(inputs, outputs)) return fail("run", error, 1);
  return 0;
}
