#include "mote/compiler/audio/attach.h"

#include <iterator>

#include "mote/compiler/audio/tables.h"
#include "mote/compiler/ir/builder.h"
#include "mote/compiler/ir/infer.h"
#include "mote/compiler/ir/nearest.h"
#include "mote/ops/dequantize/dequantize.h"
#include "mote/ops/every_nth/every_nth.h"
#include "mote/ops/shift_in/shift_in.h"

namespace mote::audio {
namespace {

using ir::Block;
using ir::Dims;
using ir::Node;
using ir::Value;

constexpr char kName[] = "audio";

template <class T>
ir::Bytes repeated(T value, int64_t count) {
  const std::vector<T> all(static_cast<size_t>(count), value);
  return ir::Bytes::copy_of(all.data(), all.size() * sizeof(T));
}

class Attacher {
 public:
  Attacher(ir::Graph& graph, const FrontEnd& f, const AttachOptions& o, std::string* error) : g_(graph), f_(f), o_(o), error_(*error) {}

  bool run() {
    if (g_.methods.size() != 1) return fail("expected a model with one method, found " + std::to_string(g_.methods.size()));
    if (!find_input() || !read_type()) return false;
    skip_reshapes();
    const bool stateful = !g_.states().empty();
    every_ = o_.every > 0 ? o_.every : stateful ? frames_ : 1;
    if (o_.every > 1 && !o_.streaming) return fail("expected --streaming with it, found none");
    if (o_.streaming && f_.step > f_.window) return fail("streaming wants frames.step to be at most frames.window");
    Block& block = *method().block;
    if (block.nodes.empty()) return fail("expected a model with operators, found none");
    first_ = block.nodes.front().get();
    ir::NodeBuilder b(g_, block, kName, first_);
    const int32_t lead = o_.streaming && f_.preemphasis > 0 ? 1 : 0;
    Value* samples = g_.add_input(method(), "samples", DType::s16, {o_.streaming ? f_.step : f_.window + (frames_ - 1) * f_.step});
    Value* x = samples;
    if (o_.streaming) x = keep(b, "samples.window", x, f_.window + lead, {});
    Value* features = make_features(b, x, lead);
    if (o_.streaming && frames_ > 1) features = keep_features(b, features);
    Node* last = std::prev(first_->place)->get();
    Value* input = adapted(b, features);
    if (!b.ok()) return fail(b.error());
    replace_input(samples, input);
    if (o_.streaming && every_ > 1 && !skip_network(last)) return false;
    g_.metadata.emplace_back("audio.rate", std::to_string(f_.rate));
    g_.metadata.emplace_back("audio.samples", std::to_string(samples->type.dims[0]));
    if (o_.streaming) g_.metadata.emplace_back("audio.every", std::to_string(every_));
    return true;
  }

 private:
  bool fail(const std::string& what) {
    error_ = what;
    return false;
  }
  ir::Method& method() { return g_.methods[0]; }

  bool find_input() {
    const std::vector<std::string>& names = method().input_names;
    const std::string all = ir::listed(names);
    if (f_.input.empty() && names.size() != 1)
      return fail("expected a model with one input, or output.input=NAME behind the front end's name; found " + all);
    for (at_ = 0; at_ < names.size(); ++at_)
      if (f_.input.empty() || names[at_] == f_.input) break;
    if (at_ == names.size())
      return fail("no such input: expected one of " + all + ", found '" + f_.input + "'" + ir::did_you_mean(f_.input, names));
    old_ = method().block->arguments[at_];
    return true;
  }

  // The model's own scale, so that features are what it was trained with.
  bool read_type() {
    const ir::Type t = old_->type;
    const std::string name = "input '" + method().input_names[at_] + "' ";
    if (!t.is_static()) return fail(name + "has open sizes: fix them with --shape");
    const int64_t count = t.count(), features = f_.features();
    if (count == 0 || count % features != 0)
      return fail(name + "has " + std::to_string(count) + " elements, expected frames of " + std::to_string(features) + " features");
    if (count / features > (1 << 20) / f_.step) return fail(name + "is longer than a million samples");
    frames_ = static_cast<int32_t>(count / features);
    find_conversion();
    if (t.dtype == DType::f32) {
      if (conversion_ == nullptr) grid_ = feature_grid(f_);
      return true;
    }
    if (t.dtype != DType::s8 && t.dtype != DType::u8 && t.dtype != DType::s16)
      return fail(name + "has type " + std::string(dtype_name(t.dtype)) + ", expected f32, s8, u8 or s16");
    if (conversion_ != nullptr) return true;
    if (!old_->quant || !(old_->quant->scale > 0)) return fail(name + "has integers without a scale: what they stand for is not known");
    grid_ = {t.dtype, static_cast<double>(old_->quant->scale), old_->quant->zero_point};
    return true;
  }

  // Models in ONNX's form say what integers stand for in the first operator: quantize, or dequantize.
  void find_conversion() {
    if (old_->users.size() != 1 || old_->result_uses > 0) return;
    Node* n = old_->users[0];
    const bool to = n->is(OpId::quantize) && old_->type.dtype == DType::f32;
    if (!to && !(n->is(OpId::dequantize) && old_->type.dtype != DType::f32)) return;
    std::vector<double> scale;
    std::vector<int64_t> zero;
    if (n->inputs.size() < 2 || n->inputs[1] == nullptr || !ir::known_floats(*n->inputs[1], &scale) || scale.size() != 1) return;
    if (n->input(2) != nullptr && (!ir::known_ints(*n->input(2), &zero) || zero.size() != 1)) return;
    const DType dtype = (to ? n->output() : old_)->type.dtype;
    if ((dtype != DType::s8 && dtype != DType::u8 && dtype != DType::s16) || !(scale[0] > 0)) return;
    grid_ = {dtype, scale[0], zero.empty() ? 0 : static_cast<int32_t>(zero[0])};
    conversion_ = n;
    // Features are those integers already.
    if (to) old_ = n->output();
  }

  // Features can be kept in the shape that the model wants them in, which is often behind a reshape.
  void skip_reshapes() {
    while (old_->users.size() == 1 && old_->result_uses == 0 && old_->users[0]->is(OpId::reshape) &&
           old_->users[0]->output()->type.is_static())
      old_ = old_->users[0]->output();
  }

  // The shape of features that are kept: the model's own where frames lie one behind the other in it, along *axis.
  Dims kept_shape(int32_t* axis) const {
    const Dims& dims = old_->type.dims;
    *axis = 0;
    for (const int32_t d : dims) {
      if (d != 1) break;
      ++*axis;
    }
    const auto at = static_cast<size_t>(*axis);
    if (!f_.time_last && at < dims.size() && dims[at] % frames_ == 0) return dims;
    *axis = 0;
    return {frames_, f_.features()};
  }
  Value* keep_features(ir::NodeBuilder& b, Value* x) {
    int32_t axis;
    const Dims dims = kept_shape(&axis);
    Dims one = dims;
    one[static_cast<size_t>(axis)] /= frames_;
    if (b.ok() && x->type.dims != one) x = b.reshape(x, one);
    return keep(b, "features.window", x, dims[static_cast<size_t>(axis)], silence(), axis);
  }

  // A state with `count` along an axis, that x is appended to; what it is afterwards.
  Value* keep(ir::NodeBuilder& b, const std::string& name, Value* x, int32_t count, ir::Bytes first, int32_t axis = 0) {
    if (!b.ok()) return nullptr;
    Dims dims = x->type.dims;
    dims[static_cast<size_t>(axis)] = count;
    Value* state = g_.add_state(name, x->type.dtype, dims, std::move(first));
    Value* next = b.op(OpId::shift_in, ops::shift_in::Attrs{axis}, {state, x});
    if (next != nullptr) assign(b.block(), state, next, first_);
    return next;
  }
  void assign(Block& block, Value* state, Value* next, Node* before) {
    g_.add_node(block, ir::kAssign, nullptr, 0, {state, next}, 0, kName, before);
  }

  // (frames, features) on grid_.
  Value* make_features(ir::NodeBuilder& b, Value* samples, int32_t lead) {
    const BandTable bands = band_table(f_);
    const auto window = window_table(f_);
    const auto cosines = cosine_table(f_.fft_size());
    ops::audio_mel::Attrs mel;
    mel.step = f_.step;
    mel.magnitude = f_.magnitude ? 1 : 0;
    mel.preemphasis = static_cast<int32_t>(f_.preemphasis * 32768 + 0.5);
    mel.lead = lead;
    const std::vector<Value*> spectrum =
        b.ops(OpId::audio_mel, mel,
              {samples, g_.constant<int16_t>({f_.window}, window, "audio.window"),
               g_.constant<int32_t>({static_cast<int32_t>(cosines.size())}, cosines, "audio.cosines"),
               g_.constant<int32_t>({f_.bands, 2}, bands.bands, "audio.bands"),
               g_.constant<uint16_t>({static_cast<int32_t>(bands.weights.size())}, bands.weights, "audio.weights")},
              2);
    Value* v = b.ok() ? spectrum[0] : nullptr;
    if (f_.noise && b.ok()) {
      Value* noise = o_.streaming ? g_.add_state("audio.noise", DType::u32, {f_.bands}) : zeros(f_.bands);
      const std::vector<Value*> out = b.ops(OpId::audio_pcan, pcan_attrs(f_), {noise, v}, 2);
      if (out.empty()) return nullptr;
      if (o_.streaming) assign(b.block(), noise, out[0], first_);
      v = out[1];
    }
    if (f_.cepstra == 0) return b.op(OpId::audio_log, log_attrs(f_, grid_), {v});
    const Grid logs = log_grid(f_);
    v = b.op(OpId::audio_log, log_attrs(f_, logs), {v});
    int bits;
    const auto matrix = dct_table(f_, &bits);
    return b.op(OpId::audio_dct, dct_attrs(logs, bits, grid_), {v, g_.constant<int16_t>({f_.cepstra, f_.bands}, matrix, "audio.dct")});
  }
  Value* zeros(int32_t count) { return g_.add_constant(DType::u32, {count}, repeated<uint32_t>(0, count), "audio.noise"); }

  // Features of silence, for all frames.
  ir::Bytes silence() const {
    std::vector<int32_t> frame;
    if (f_.cepstra == 0) {
      frame.assign(static_cast<size_t>(f_.bands), ops::audio::log_of(ops::audio_log::log_of(log_attrs(f_, grid_)), 0));
    } else {
      const Grid logs = log_grid(f_);
      int bits;
      const auto matrix = dct_table(f_, &bits);
      const std::vector<int16_t> row(static_cast<size_t>(f_.bands),
                                     static_cast<int16_t>(ops::audio::log_of(ops::audio_log::log_of(log_attrs(f_, logs)), 0)));
      const ops::audio::Scale scale = ops::audio_dct::scale_of(dct_attrs(logs, bits, grid_));
      for (int32_t k = 0; k < f_.cepstra; ++k)
        frame.push_back(ops::audio::scaled(scale, ops::audio::dot(row.data(), matrix.data() + k * f_.bands, f_.bands)));
    }
    std::vector<uint8_t> bytes;
    for (int32_t t = 0; t < frames_; ++t)
      for (const int32_t v : frame)
        for (uint32_t i = 0; i < dtype_bytes(grid_.dtype); ++i) bytes.push_back(static_cast<uint8_t>(static_cast<uint32_t>(v) >> 8 * i));
    return ir::Bytes::own(std::move(bytes));
  }

  // In the model's own shape and type.
  Value* adapted(ir::NodeBuilder& b, Value* v) {
    if (!b.ok()) return nullptr;
    if (f_.time_last) v = b.transpose(v, {1, 0});
    if (b.ok() && old_->type.dims != v->type.dims) v = b.reshape(v, old_->type.dims);
    if (b.ok() && old_->type.dtype == DType::f32)
      v = b.op(OpId::dequantize, ops::dequantize::Attrs{}, {v, g_.scalar<float>(static_cast<float>(grid_.scale))});
    return v;
  }

  void replace_input(Value* samples, Value* input) {
    if (input->name.empty()) input->name = old_->name;
    g_.replace_uses(old_, input);
    for (Node* n = old_->producer; n != nullptr;) {
      const Value* before = n->inputs[0];
      g_.erase(n);
      n = before->producer;
    }
    ir::Method& m = method();
    m.block->arguments[at_] = samples;
    m.input_names[at_] = "samples";
    m.block->arguments.pop_back();
    m.input_names.pop_back();
  }

  // What stands behind `last` moves into a branch that only each every_-th run takes.
  bool skip_network(Node* last) {
    Block& main = *method().block;
    Value* counter = g_.add_state("audio.counter", DType::s32, {});
    ir::NodeBuilder b(g_, main, kName, std::next(last->place)->get());
    const std::vector<Value*> counted = b.ops(OpId::every_nth, ops::every_nth::Attrs{every_}, {counter}, 2);
    if (counted.empty()) return fail(b.error());
    Node* assigned =
        g_.add_node(main, ir::kAssign, nullptr, 0, {counter, counted[0]}, 0, kName, std::next(counted[0]->producer->place)->get());
    const auto behind = std::next(assigned->place);
    Node* branch = g_.add_node(main, ir::kIf, nullptr, 0, {counted[1]}, main.results.size(), "network", behind->get());
    Block &then = g_.add_block(branch), &otherwise = g_.add_block(branch);
    then.nodes.splice(then.nodes.end(), main.nodes, behind, main.nodes.end());
    for (const auto& n : then.nodes) n->block = &then;
    std::vector<Value*> kept;
    for (size_t i = 0; i < main.results.size(); ++i) {
      Value* v = main.results[i];
      if (!v->type.is_static()) return fail("output '" + method().output_names[i] + "' has an open size, which streaming cannot keep");
      kept.push_back(g_.add_state("kept." + method().output_names[i], v->type.dtype, v->type.dims, first_value(*v)));
      g_.add_result(then, v);
      g_.add_result(otherwise, kept.back());
    }
    if (!ir::infer(*branch, &error_)) return false;
    for (size_t i = 0; i < kept.size(); ++i) {
      branch->outputs[i]->name = main.results[i]->name;
      branch->outputs[i]->quant = main.results[i]->quant;
      g_.set_result(main, i, branch->outputs[i]);
      assign(main, kept[i], branch->outputs[i], nullptr);
    }
    return true;
  }
  // The integer that stands for 0.
  static ir::Bytes first_value(const Value& v) {
    if (!v.quant || dtype_bytes(v.type.dtype) != 1) return {};
    return repeated<uint8_t>(static_cast<uint8_t>(v.quant->zero_point), v.type.count());
  }

  ir::Graph& g_;
  const FrontEnd& f_;
  const AttachOptions& o_;
  std::string& error_;
  size_t at_ = 0;
  Value* old_ = nullptr;  // what features take the place of
  Node *first_ = nullptr, *conversion_ = nullptr;
  Grid grid_;
  int32_t frames_ = 0, every_ = 1;
};

}  // namespace

bool attach(ir::Graph& graph, const FrontEnd& front_end, const AttachOptions& options, std::string* error) {
  return Attacher(graph, front_end, options, error).run();
}

}  // namespace mote::audio
