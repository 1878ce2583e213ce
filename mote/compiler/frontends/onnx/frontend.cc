#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>

#include <climits>

#include "mote/compiler/frontends/onnx/import.h"

namespace mote::frontends::onnx {
namespace {

// Most ONNX files start with ModelProto.ir_version: field 1, a small number. So do other formats.
bool resembles(const Source& source) { return source.bytes.size >= 4 && source.bytes.data[0] == 0x08 && source.bytes.data[1] < 0x20; }

bool parse(const Source& source, ::onnx::ModelProto* model, ir::Problems* problems) {
  constexpr size_t kMost = INT_MAX;
  if (source.bytes.size > kMost) {
    problems->push_back({source.path,
                         "has " + std::to_string(source.bytes.size) + " bytes, at most " + std::to_string(kMost) + " can be read",
                         "save the model with external data (onnx.save_model(..., save_as_external_data=True))"});
    return false;
  }
  google::protobuf::io::CodedInputStream in(source.bytes.data, static_cast<int>(source.bytes.size));
  in.SetTotalBytesLimit(INT_MAX);
  in.SetRecursionLimit(100);
  if (model->ParseFromCodedStream(&in) && in.ConsumedEntireMessage()) return true;
  problems->push_back({source.path, "is no ONNX model, or is damaged", "check the file with onnx.checker.check_model"});
  return false;
}

bool import(const Source& source, const ImportOptions& options, ir::Graph& graph, ir::Problems* problems) {
  const size_t before = problems->size();
  auto model = std::make_shared<::onnx::ModelProto>();
  if (!parse(source, model.get(), problems)) return false;
  Importer(model, source.path, options, graph, problems).run();
  return problems->size() == before;
}

}  // namespace

extern const Frontend kFrontend;
const Frontend kFrontend = {"onnx", ".onnx", nullptr, &resembles, &import};

}  // namespace mote::frontends::onnx
