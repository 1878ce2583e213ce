// Peak throughput of the AMX tiles: the roofline that mote/kernels/probe reports.

#include "mote/kernels/int8/gemm/microkernel_amx.h"
#include "mote/kernels/probe/probe.h"

namespace mote::kernels::MOTE_ISA_NAME::int8 {

static uint64_t dot_s8(uint32_t rounds, float* sink) noexcept {
  constexpr int kUnroll = 4;
  const AmxScope scope;
  alignas(64) int8_t bytes[kAmxTileBytes];
  for (int i = 0; i < kAmxTileBytes; ++i) bytes[i] = static_cast<int8_t>(static_cast<int>(sink[1] * 8) + i % 7);
  const uint8_t* lhs[] = {reinterpret_cast<const uint8_t*>(bytes), reinterpret_cast<const uint8_t*>(bytes)};
  _tile_zero(0);
  _tile_zero(1);
  _tile_zero(2);
  _tile_zero(3);
  amx_multiply_step<false, 2, 2>(lhs, 64, bytes, bytes);
  for (uint32_t r = 0; r < rounds; ++r) {
    for (int i = 0; i < kUnroll; ++i) {
      _tile_dpbusd(0, 4, 6);
      _tile_dpbusd(1, 4, 7);
      _tile_dpbusd(2, 5, 6);
      _tile_dpbusd(3, 5, 7);
    }
  }
  alignas(64) int32_t result[kAmxRows * kPanel];
  _tile_stored(0, result, 64);
  sink[0] += static_cast<float>(result[0] & 1);
  return uint64_t{rounds} * kUnroll * 4 * kAmxRows * kPanel * kAmxStepK * 2;
}

void add_dot_probe(Probes* probes) noexcept { probes->dot_s8 = &dot_s8; }

}  // namespace mote::kernels::MOTE_ISA_NAME::int8
