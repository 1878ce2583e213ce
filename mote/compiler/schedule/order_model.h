#pragma once

// A block as the search for an order sees it: nodes, and groups of values that will lie in one buffer.

#include <cstdint>
#include <vector>

#include "mote/compiler/ir/graph.h"
#include "mote/compiler/schedule/order.h"

namespace mote::schedule {

struct OrderModel {
  struct Group {
    uint64_t bytes = 0;
    int32_t touches = 0;    // nodes that read or write it
    bool live_out = false;  // live out of the block
  };
  struct Item {
    const ir::Node* node = nullptr;
    std::vector<int32_t> groups;      // touched, each once
    std::vector<int32_t> reads;       // of these: those it reads
    std::vector<int32_t> writes;      // of these: those it writes
    bool in_place = false;            // its first output may overwrite an operand whose last use this is
    uint64_t nested_bytes = 0;        // peak of its nested blocks, bytes
    std::vector<int32_t> successors;  // nodes that depend on it
    int32_t dependencies = 0;         // number of nodes it depends on
  };
  std::vector<Item> items;
  std::vector<Group> groups;

  OrderModel(const ir::Block& block, const OrderOptions& options);
  // The largest sum of live bytes of an order, as numbers of items.
  uint64_t peak(const std::vector<int32_t>& order) const;
};

// Live bytes during and after an item, given the live bytes before it and the number of remaining nodes of each group.
struct LiveBytes {
  uint64_t during = 0, after = 0;
};
LiveBytes live_bytes_at(const OrderModel& model, const OrderModel::Item& item, uint64_t live, const std::vector<int32_t>& remaining,
                        const std::vector<bool>& present);

}  // namespace mote::schedule
