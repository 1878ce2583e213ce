#include <sstream>

#include "mote/compiler/frontends/onnx/import.h"
#include "mote/compiler/frontends/onnx/testing.h"

namespace mote::frontends::onnx {
namespace {

// Every operator of the onnx package 1.23 (ai.onnx up to opset 28), so that each is imported or refused with a reason of its own.
const char* const kOperators =
    "Abs Acos Acosh Add AffineGrid And ArgMax ArgMin Asin Asinh Atan Atanh Attention AveragePool BatchNormalization Bernoulli "
    "BitCast BitShift BitwiseAnd BitwiseNot BitwiseOr BitwiseXor BlackmanWindow Cast CastLike CausalConvWithState Ceil Celu "
    "CenterCropPad Clip Col2Im Compress Concat ConcatFromSequence Constant ConstantOfShape Conv ConvInteger ConvTranspose Cos Cosh "
    "CumProd CumSum DFT DeformConv DepthToSpace DequantizeLinear Det Div Dropout DynamicQuantizeLinear Einsum Elu Equal Erf Exp "
    "Expand EyeLike Flatten Floor GRU Gather GatherElements GatherND Gelu Gemm GlobalAveragePool GlobalLpPool GlobalMaxPool "
    "Greater GreaterOrEqual GridSample GroupNormalization HammingWindow HannWindow HardSigmoid HardSwish Hardmax Identity If "
    "ImageDecoder InstanceNormalization IsInf IsNaN LRN LSTM LayerNormalization LeakyRelu Less LessOrEqual LinearAttention Log "
    "LogSoftmax Loop LpNormalization LpPool MatMul MatMulInteger Max MaxPool MaxRoiPool MaxUnpool Mean MeanVarianceNormalization "
    "MelWeightMatrix Min Mish Mod Mul Multinomial Neg NegativeLogLikelihoodLoss NonMaxSuppression NonZero Not OneHot Optional "
    "OptionalGetElement OptionalHasElement Or PRelu Pad Pow QLinearConv QLinearMatMul QuantizeLinear RMSNormalization RNN "
    "RandomNormal RandomNormalLike RandomUniform RandomUniformLike Range Reciprocal ReduceL1 ReduceL2 ReduceLogSum ReduceLogSumExp "
    "ReduceMax ReduceMean ReduceMin ReduceProd ReduceSum ReduceSumSquare RegexFullMatch Relu Reshape Resize ReverseSequence "
    "RoiAlign RotaryEmbedding Round STFT Scan Scatter ScatterElements ScatterND Selu SequenceAt SequenceConstruct SequenceEmpty "
    "SequenceErase SequenceInsert SequenceLength SequenceMap Shape Shrink Sigmoid Sign Sin Sinh Size Slice Softmax "
    "SoftmaxCrossEntropyLoss Softplus Softsign SpaceToDepth Split SplitToSequence Sqrt Squeeze StringConcat StringNormalizer "
    "StringSplit Sub Sum SwiGLU Swish Tan Tanh TensorScatter TfIdfVectorizer ThresholdedRelu Tile TopK Transpose Trilu Unique "
    "Unsqueeze Upsample Where Xor ai.onnx.ml.ArrayFeatureExtractor ai.onnx.ml.Binarizer ai.onnx.ml.CastMap "
    "ai.onnx.ml.CategoryMapper ai.onnx.ml.DictVectorizer ai.onnx.ml.FeatureVectorizer ai.onnx.ml.Imputer ai.onnx.ml.LabelEncoder "
    "ai.onnx.ml.LinearClassifier ai.onnx.ml.LinearRegressor ai.onnx.ml.Normalizer ai.onnx.ml.OneHotEncoder "
    "ai.onnx.ml.SVMClassifier ai.onnx.ml.SVMRegressor ai.onnx.ml.Scaler ai.onnx.ml.TreeEnsemble ai.onnx.ml.TreeEnsembleClassifier "
    "ai.onnx.ml.TreeEnsembleRegressor ai.onnx.ml.ZipMap ai.onnx.preview.FlexAttention ai.onnx.preview.training.Adagrad "
    "ai.onnx.preview.training.Adam ai.onnx.preview.training.Gradient ai.onnx.preview.training.Momentum "
    "";

TEST(OnnxOpTable, EveryOperatorHasAnAnswer) {
  std::istringstream names(kOperators);
  size_t count = 0;
  for (std::string name; names >> name; ++count) EXPECT_EQ(op_table().count(name), 1u) << name;
  EXPECT_GT(count, 200u);
}

TEST(OnnxOpTable, LinesCarryTheNameTheyAreFoundBy) {
  for (const auto& [key, lines] : op_table())
    for (const OpImporter& line : lines) {
      EXPECT_EQ(key.substr(key.rfind('.') + 1), line.name);
      EXPECT_NE(line.import, nullptr) << key;
    }
}

}  // namespace
}  // namespace mote::frontends::onnx
