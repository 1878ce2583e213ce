// The same with mote::Model.
#include <cstdio>

#include "mote/api/mote.hpp"

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  auto model = mote::Model::load(argv[1]);
  if (!model) return std::fprintf(stderr, "%s\n", model.error().message.c_str()), 1;
  // Whatever the program's types are: bytes.
  std::vector<std::vector<uint8_t>> buffers;
  std::vector<mote::InputView> inputs;
  std::vector<mote::OutputView> outputs;
  for (const mote::TensorSpec& s : model->inputs()) inputs.push_back(mote::input_bytes(buffers.emplace_back(s.bytes).data(), s.bytes));
  for (const mote::TensorSpec& s : model->outputs()) outputs.push_back(mote::output_bytes(buffers.emplace_back(s.bytes).data(), s.bytes));
  if (const mote::Error error = model->run(inputs, outputs)) return std::fprintf(stderr, "%s\n", error.message.c_str()), 1;
  std::printf("%s %s %zu bytes\n", model->outputs()[0].name.c_str(), mote_dtype_name(model->outputs()[0].dtype),
              static_cast<size_t>(outputs[0].bytes));
}
