// Payloads of the XNNPACK delegate, model.xnn (payload.h) in each folder (tests/torch/case_runner.h).

#include "mote/tools/files.h"
#include "tests/executorch/payload.h"
#include "tests/torch/case_runner.h"

int main(int argc, char** argv) {
  using namespace mote::frontends;
  // What the last source reads its weights from.
  executorch::PayloadParts parts;
  return mote::tests::run_cases(argc, argv, [&parts](const std::string& folder, Source* source, std::string* error) {
    std::vector<uint8_t> bytes;
    if (!mote::tools::read_whole_file(folder + "/model.xnn", &bytes, error)) return false;
    parts = {};
    if (!executorch::read_payload_file(mote::ir::Bytes::own(std::move(bytes)), &parts)) return *error = "no payload file", false;
    *source = executorch::source_of_payload(parts);
    return true;
  });
}
