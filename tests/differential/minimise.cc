#include "tests/differential/minimise.h"

#include <chrono>

namespace mote::differential {
namespace {

using List = std::vector<uint32_t>;

class Minimiser {
 public:
  Minimiser(Case c, std::string kind, double seconds) : best_(std::move(c)), kind_(std::move(kind)), seconds_(seconds) {}

  Case run() {
    for (bool better = true; better && !over();) {
      better = leave_out_steps();
      better |= leave_out_runs();
      better |= lower();
    }
    return best_;
  }

 private:
  bool over() const { return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin_).count() > seconds_; }

  static bool simpler(const Case& a, const Case& b) {
    const int left = a.model.graph().node_size(), right = b.model.graph().node_size();
    if (left != right) return left < right;
    if (a.choices.size() != b.choices.size()) return a.choices.size() < b.choices.size();
    return a.choices < b.choices;
  }
  bool take(List list) {
    if (over()) return false;
    Case c = draw_case(std::move(list));
    if (!simpler(c, best_) || kind_of(check_guarded(c)) != kind_) return false;
    best_ = std::move(c);
    return true;
  }
  bool without(size_t begin, size_t end) {
    List list = best_.choices;
    list.erase(list.begin() + static_cast<std::ptrdiff_t>(begin), list.begin() + static_cast<std::ptrdiff_t>(end));
    return take(std::move(list));
  }
  bool leave_out_steps() {
    bool any = false;
    for (size_t i = best_.marks.size(); i-- > 0 && !over();)
      if (i + 1 < best_.marks.size()) any |= without(best_.marks[i], best_.marks[i + 1]);
    return any;
  }
  bool leave_out_runs() {
    bool any = false;
    for (const size_t run : {8u, 4u, 2u, 1u})
      for (size_t i = 0; i + run <= best_.choices.size() && !over(); ++i) any |= without(i, i + run);
    return any;
  }
  bool lower() {
    bool any = false;
    for (size_t i = 0; i < best_.choices.size() && !over(); ++i) {
      const uint32_t v = best_.choices[i];
      if (v == 0) continue;
      uint32_t low = 0;  // the first that holds, tried from below
      for (const uint32_t to : {low, v / 2, v - 1}) {
        if (to >= best_.choices[i]) continue;
        List list = best_.choices;
        list[i] = to;
        if (take(std::move(list))) {
          any = true;
          break;
        }
      }
    }
    return any;
  }

  Case best_;
  std::string kind_;
  double seconds_;
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
};

}  // namespace

std::string kind_of(const Checked& r) {
  if (!r.finding.kind.empty()) return r.finding.kind;
  return r.refusal.empty() ? "" : "refused: " + without_names(r.refusal);
}

Case minimise(const Case& c, const std::string& kind, double seconds) { return Minimiser(c, kind, seconds).run(); }

}  // namespace mote::differential
