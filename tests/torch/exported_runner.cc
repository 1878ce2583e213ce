// Exported programs, model.pt2 in each folder (case_runner.h).

#include "mote/tools/files.h"
#include "tests/torch/case_runner.h"

int main(int argc, char** argv) {
  return mote::tests::run_cases(argc, argv, [](const std::string& folder, mote::frontends::Source* source, std::string* error) {
    source->path = folder + "/model.pt2";
    std::vector<uint8_t> bytes;
    if (!mote::tools::read_whole_file(source->path, &bytes, error)) return false;
    source->bytes = mote::ir::Bytes::own(std::move(bytes));
    return true;
  });
}
