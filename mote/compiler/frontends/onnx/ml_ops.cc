// ai.onnx.ml, as far as tensors of numbers go: scaling, encoding, linear models.

#include <algorithm>
#include <cmath>

#include "mote/compiler/frontends/common/notes.h"
#include "mote/compiler/frontends/onnx/forest.h"
#include "mote/ops/common/arg_reduce.h"

namespace mote::frontends::onnx {
namespace {

Value* row_of(NodeContext& c, const std::vector<float>& values) {
  return c.b.graph().constant<float>({static_cast<int32_t>(values.size())}, values);
}

void import_array_feature_extractor(NodeContext& c) {
  Decompose d(c);
  Value* picked = d.gather(c.in(0), d.reshape(c.in(1), {-1}), rank_of(c.in(0)) - 1);
  c.out(0, rank_of(c.in(0)) == 1 ? d.unsqueeze(picked, {0}) : picked);
}

void import_binarizer(NodeContext& c) {
  Decompose d(c);
  Value* x = c.in(0);
  c.out(0, d.cast(d.op(OpId::greater, {x, d.number(c.attr_float("threshold", 0), x)}), x->type.dtype));
}

void import_scaler(NodeContext& c) {
  Decompose d(c);
  Value* x = d.cast(c.in(0), DType::f32);
  if (const auto offset = c.attr_floats("offset"); !offset.empty()) x = d.sub(x, row_of(c, offset));
  if (const auto scale = c.attr_floats("scale"); !scale.empty()) x = d.mul(x, row_of(c, scale));
  c.out(0, x);
}

void import_normalizer(NodeContext& c) {
  static const std::map<std::string, OpId> kNorms = {{"MAX", OpId::reduce_max}, {"L1", OpId::reduce_l1}, {"L2", OpId::reduce_l2}};
  const auto norm = kNorms.find(c.attr_string("norm", "MAX"));
  if (norm == kNorms.end()) return c.fail("attribute norm: expected MAX, L1 or L2");
  Decompose d(c);
  Value* x = d.cast(c.in(0), DType::f32);
  Value* size = d.reduce(norm->second, norm->first == "MAX" ? d.op(OpId::abs, {x}) : x, {-1});
  c.out(0, d.div(x, d.op(OpId::maximum, {size, d.number(1e-30, DType::f32)})));
}

void import_imputer(NodeContext& c) {
  Decompose d(c);
  Value* x = c.in(0);
  const auto floats = c.attr_floats("imputed_value_floats");
  const auto ints = c.attr_ints("imputed_value_int64s");
  if (floats.empty() == ints.empty()) return c.fail("expected either imputed_value_floats or imputed_value_int64s");
  const float replaced = c.attr_float("replaced_value_float", 0);
  Value* filler = d.cast(floats.empty() ? d.ints(ints) : row_of(c, floats), x->type.dtype);
  Value* old = floats.empty() ? d.number(static_cast<double>(c.attr_int("replaced_value_int64", 0)), x) : d.number(replaced, x);
  Value* gone = !floats.empty() && std::isnan(replaced) ? d.op(OpId::is_nan, {x}) : d.op(OpId::equal, {x, old});
  c.out(0, d.op(OpId::where, {gone, filler, x}));
}

void import_feature_vectorizer(NodeContext& c) {
  Decompose d(c);
  std::vector<Value*> parts;
  for (Value* v : c.inputs) {
    if (v == nullptr) return c.fail("an input is missing");
    Value* x = d.cast(v, DType::f32);
    parts.push_back(rank_of(x) == 1 ? d.unsqueeze(x, {1}) : x);
  }
  c.out(0, d.concat(parts, 1));
}

// The place of each element of x in a list: (equal (x..., list), found).
struct Lookup {
  Value *index, *found;
};
Lookup look_up(NodeContext& c, Value* x, Value* keys, bool nan_too) {
  Decompose d(c);
  Value* wide = d.unsqueeze(x, {-1});
  Value* equal = d.op(OpId::equal, {wide, keys});
  if (nan_too) equal = d.op(OpId::logical_or, {equal, d.op(OpId::logical_and, {d.op(OpId::is_nan, {wide}), d.op(OpId::is_nan, {keys})})});
  ops::ArgAttrs last;
  last.axis = -1;
  last.keep_dims = 0;
  Value* index = c.b.ok() ? c.b.op(OpId::arg_max, last, {d.cast(equal, DType::s8)}) : nullptr;
  return {index, d.reduce(OpId::reduce_any, equal, {-1}, false)};
}

// A list of numbers or texts: a tensor, integers, floats or strings; null when it is none of them.
Value* list_attr(NodeContext& c, const std::string& what) {
  if (const auto* a = c.attr((what + "_tensor").c_str()); a != nullptr && a->has_t()) return c.constant(a->t());
  if (const auto ints = c.attr_ints((what + "_int64s").c_str()); !ints.empty()) return Decompose(c).ints(ints);
  if (const auto floats = c.attr_floats((what + "_floats").c_str()); !floats.empty()) return row_of(c, floats);
  const auto* texts = c.attr((what + "_strings").c_str());
  if (texts == nullptr || texts->strings_size() == 0) return nullptr;
  Value* v = Decompose(c).ints(c.importer.texts().indices_of(texts->strings()));
  if (v != nullptr) c.importer.texts().mark(v);
  return v;
}

// What stands for an element that is no key, of the values' type.
Value* default_label(NodeContext& c, Value* values) {
  Decompose d(c);
  if (const auto* a = c.attr("default_tensor"); a != nullptr && a->has_t()) return d.reshape(c.constant(a->t()), {});
  if (c.importer.texts().is_text(values))
    return d.number(static_cast<double>(c.importer.texts().index_of(c.attr_string("default_string", "_Unused"))), values);
  const bool is_float = (mask_of(values->type.dtype) & kFloat) != 0;
  return d.number(is_float ? c.attr_float("default_float", -0.0f) : static_cast<double>(c.attr_int("default_int64", -1)), values);
}

// Each element of input 0 that is among the keys becomes the value at its place.
void map_labels(NodeContext& c, Value* keys, Value* values, Value* otherwise) {
  Decompose d(c);
  const Texts& texts = c.importer.texts();
  if (!c.b.ok()) return;
  if (keys->type.dtype != c.in(0)->type.dtype || texts.is_text(keys) != texts.is_text(c.in(0)))
    return c.fail("keys and input differ in element type");
  const bool nan_too = c.opset >= 4 && (mask_of(keys->type.dtype) & kFloat) != 0;
  const Lookup at = look_up(c, c.in(0), keys, nan_too);
  Value* out = d.op(OpId::where, {at.found, d.gather(values, at.index, 0), otherwise});
  if (out != nullptr && texts.is_text(values)) c.importer.texts().mark(out);
  c.out(0, out);
}

// Before version 2: strings to whole numbers by their place, or the other way round.
void import_label_encoder_1(NodeContext& c) {
  Decompose d(c);
  Texts& texts = c.importer.texts();
  const auto* classes = c.attr("classes_strings");
  if (classes == nullptr || classes->strings_size() == 0) return c.fail("has no classes_strings");
  std::vector<int64_t> counted;
  for (int i = 0; i < classes->strings_size(); ++i) counted.push_back(i);
  Value *names = d.ints(texts.indices_of(classes->strings())), *numbers = d.ints(counted);
  if (!c.b.ok()) return;
  texts.mark(names);
  const double unknown = static_cast<double>(texts.index_of(c.attr_string("default_string", "_Unused")));
  if (texts.is_text(c.in(0))) map_labels(c, names, numbers, d.number(static_cast<double>(c.attr_int("default_int64", -1)), DType::s64));
  else map_labels(c, numbers, names, d.number(unknown, DType::s64));
}

void import_label_encoder(NodeContext& c) {
  Value *keys = list_attr(c, "keys"), *values = list_attr(c, "values");
  if (!c.b.ok()) return;
  if (keys == nullptr || values == nullptr) return c.fail("has no keys or no values");
  if (rank_of(keys) != 1 || dims_of(keys) != dims_of(values)) return c.fail("expected as many values as keys, in vectors");
  map_labels(c, keys, values, default_label(c, values));
}

// Strings to the whole numbers beside them, or the other way round.
void import_category_mapper(NodeContext& c) {
  Decompose d(c);
  Texts& texts = c.importer.texts();
  const auto* names = c.attr("cats_strings");
  const auto numbers = c.attr_ints("cats_int64s");
  if (names == nullptr || numbers.empty() || names->strings_size() != static_cast<int>(numbers.size()))
    return c.fail("expected as many cats_strings as cats_int64s");
  Value *keys = d.ints(texts.indices_of(names->strings())), *values = d.ints(numbers);
  if (!c.b.ok()) return;
  texts.mark(keys);
  const double unknown = static_cast<double>(texts.index_of(c.attr_string("default_string", "_Unused")));
  if (texts.is_text(c.in(0))) map_labels(c, keys, values, d.number(static_cast<double>(c.attr_int("default_int64", -1)), DType::s64));
  else map_labels(c, values, keys, d.number(unknown, DType::s64));
}

void import_one_hot_encoder(NodeContext& c) {
  Decompose d(c);
  const bool text = c.importer.texts().is_text(c.in(0));
  const ClassLabels categories = class_labels(c, "cats_int64s", "cats_strings");
  if (categories.count() == 0) return c.fail("has no categories");
  if (categories.texts != text) return c.fail("categories and input differ in element type");
  if (c.attr_int("zeros", 1) == 0)
    add_note(c.b.graph(), c.b.name() + ": what is no category gives zeros, where the model asks for an error");
  Value* x = d.cast(c.in(0), DType::s64);
  c.out(0, d.cast(d.op(OpId::equal, {d.unsqueeze(x, {-1}), d.ints(categories.values)}), DType::f32));
}

// Maps from labels to scores do not exist in programs: the scores stay what they are, and metadata says which column is whose.
void import_zip_map(NodeContext& c) {
  std::vector<std::string> labels;
  if (const auto* texts = c.attr("classlabels_strings"); texts != nullptr && texts->strings_size() > 0)
    labels.assign(texts->strings().begin(), texts->strings().end());
  else
    for (const int64_t label : c.attr_ints("classlabels_int64s")) labels.push_back(std::to_string(label));
  keep_labels(c.b.graph(), labels);
  add_note(c.b.graph(),
           c.b.name() + ": left out; the program gives the scores as a tensor, the metadata 'labels' name its columns in order");
  c.out(0, c.in(0));
}

// x times the transposed coefficients (rows, features), plus intercepts; null after fail().
Value* linear_scores(NodeContext& c, int64_t* rows) {
  Decompose d(c);
  Value* x = d.cast(c.in(0), DType::f32);
  if (rank_of(x) == 1) x = d.unsqueeze(x, {0});
  const auto coefficients = c.attr_floats("coefficients"), intercepts = c.attr_floats("intercepts");
  const int64_t features = rank_of(x) == 2 ? dims_of(x)[1] : 0;
  if (features == 0 || coefficients.empty() || static_cast<int64_t>(coefficients.size()) % features != 0) {
    c.fail("expected coefficients for (N, features), found " + std::to_string(coefficients.size()));
    return nullptr;
  }
  *rows = static_cast<int64_t>(coefficients.size()) / features;
  Value* weights = c.b.graph().constant<float>({static_cast<int32_t>(*rows), static_cast<int32_t>(features)}, coefficients);
  Value* y = d.matmul(x, weights, false, true);
  return intercepts.empty() ? y : d.add(y, row_of(c, intercepts));
}

void import_linear_regressor(NodeContext& c) {
  int64_t rows;
  Value* y = linear_scores(c, &rows);
  if (y != nullptr) c.out(0, post_transform(c, y, c.attr_string("post_transform", "NONE")));
}

void import_linear_classifier(NodeContext& c) {
  Decompose d(c);
  int64_t rows;
  Value* scores = linear_scores(c, &rows);
  const ClassLabels labels = class_labels(c, "classlabels_ints");
  const size_t classes = labels.count();
  const std::string transform = c.attr_string("post_transform", "NONE");
  if (rows == 1 && classes == 2) scores = d.concat({d.op(OpId::neg, {scores}), scores}, 1);
  Value* z = scores == nullptr ? nullptr : post_transform(c, scores, transform);
  c.out(1, z);
  if (rows > 1 || classes == 2 || !c.wants(0)) return set_labels(c, z, labels);
  Value* yes = d.op(OpId::greater_equal, {z, d.number(transform == "NONE" ? 0 : 0.5, DType::f32)});
  Value* label = d.number(static_cast<double>(labels.count() == 0 ? 1 : labels.values[0]), DType::s64);
  c.out(0, d.squeeze(d.op(OpId::where, {yes, label, d.number(0, DType::s64)}), {1}));
}

}  // namespace

void add_ml_ops(OpTable& table);
void add_ml_ops(OpTable& table) {
  add_lines(table,
            {{"ArrayFeatureExtractor", import_array_feature_extractor, 1, 2},
             {"Binarizer", import_binarizer},
             {"Scaler", import_scaler},
             {"Normalizer", import_normalizer},
             {"Imputer", import_imputer},
             {"FeatureVectorizer", import_feature_vectorizer},
             {"LabelEncoder", import_label_encoder_1},
             {"LabelEncoder", import_label_encoder, 2},
             {"CategoryMapper", import_category_mapper},
             {"ZipMap", import_zip_map},
             {"OneHotEncoder", import_one_hot_encoder},
             {"LinearRegressor", import_linear_regressor},
             {"LinearClassifier", import_linear_classifier}},
            "ai.onnx.ml");
}

}  // namespace mote::frontends::onnx
