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
    int32_t touches = 0;  // nodes that read or write it
    bool kept = false;    // needed behind the last node
  };
  struct Item {
    const ir::Node* node = nullptr;
    std::vector<int32_t> groups;     // touched, each once
    std::vector<int32_t> reads;      // of these: those it reads
    std::vector<int32_t> writes;     // of these: those it writes
    bool in_place = false;           // its first output may take the place of an operand that ends here
    uint64_t inside = 0;             // most bytes its own blocks need
    std::vector<int32_t> followers;  // nodes that must come later
    int32_t waits = 0;               // nodes that must come first
  };
  std::vector<Item> items;
  std::vector<Group> groups;

  OrderModel(const ir::Block& block, const OrderOptions& options);
  // The largest sum of live bytes of an order, as numbers of items.
  uint64_t peak(const std::vector<int32_t>& order) const;
};

// Bytes alive while and after an item runs, given what is alive before and which nodes have still to come for each group.
struct LiveBytes {
  uint64_t during = 0, after = 0;
};
LiveBytes run_item(const OrderModel& model, const OrderModel::Item& item, uint64_t live, const std::vector<int32_t>& left,
                   const std::vector<bool>& present);

}  // namespace mote::schedule
