#include "mote/tools/placement_html.h"

#include <algorithm>
#include <cstdio>

#include "mote/tools/failure.h"
#include "mote/tools/files.h"
#include "mote/tools/text_table.h"
#include "mote/tools/values.h"

namespace mote::tools {
namespace {

constexpr int kLane = 330, kBox = 230, kRow = 24, kHead = 46, kPartHead = 22, kPartGap = 16;
// Of backends: nothing near the red of what is moved between them.
constexpr const char* kColours[] = {"#4c78a8", "#54a24b", "#b279a2", "#b8860b", "#3b8f8f", "#7a6a5d"};
constexpr const char* kMoved = "#d62728";

std::string escaped(const std::string& text) {
  std::string out;
  for (const char c : text) {
    switch (c) {
      case '&': out += "&amp;"; break;
      case '<': out += "&lt;"; break;
      case '>': out += "&gt;"; break;
      case '"': out += "&quot;"; break;
      default: out += static_cast<unsigned char>(c) < 0x20 && c != '\n' ? ' ' : c;
    }
  }
  return out;
}

std::string n(int v) { return std::to_string(v); }

// A box of the drawing.
struct Spot {
  int lane = 0, x = 0, y = 0;
  const PlacedOp* op = nullptr;
};

class Drawing {
 public:
  explicit Drawing(const PlacementView& view) : view_(view) {
    for (const PlacedPart& p : view.parts)
      if (std::find(lanes_.begin(), lanes_.end(), p.backend) == lanes_.end()) lanes_.push_back(p.backend);
    if (auto cpu = std::find(lanes_.begin(), lanes_.end(), "cpu"); cpu != lanes_.end()) std::rotate(lanes_.begin(), cpu, cpu + 1);
    int y = kHead + kPartGap;
    for (const PlacedPart& p : view.parts) {
      tops_.push_back(y);
      y += kPartHead;
      for (const PlacedOp& op : p.ops) {
        const int lane = lane_of(p.backend);
        spots_.push_back({lane, lane * kLane + (kLane - kBox) / 2, y, &op});
        y += kRow;
      }
      y += kPartGap;
    }
    height_ = y;
  }

  std::string svg() const {
    const int width = std::max<int>(1, static_cast<int>(lanes_.size())) * kLane;
    std::string s = "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"" + n(width) + "\" height=\"" + n(height_) + "\" viewBox=\"0 0 " +
                    n(width) + " " + n(height_) + "\" role=\"img\" aria-label=\"operators by backend\">\n";
    for (size_t i = 0; i < lanes_.size(); ++i) {
      const int x = static_cast<int>(i) * kLane;
      s +=
          "<rect x=\"" + n(x + 4) + "\" y=\"4\" width=\"" + n(kLane - 8) + "\" height=\"" + n(height_ - 8) + "\" rx=\"6\" class=\"lane\"/>";
      s += "<text x=\"" + n(x + kLane / 2) + "\" y=\"30\" text-anchor=\"middle\" class=\"head\" fill=\"" + colour(i) + "\">" +
           escaped(lanes_[i]) + "</text>\n";
    }
    for (size_t i = 0; i < view_.parts.size(); ++i) s += part(i);
    // Lines below boxes: those within a lane first, then what is moved.
    for (const bool moved : {false, true})
      for (size_t i = 0; i < spots_.size(); ++i)
        for (const int from : spots_[i].op->from) s += line(i, from, moved);
    for (const Spot& spot : spots_) s += box(spot);
    return s + "</svg>\n";
  }
  size_t lane_count() const { return lanes_.size(); }
  std::string colour(size_t lane) const { return kColours[lane % (sizeof kColours / sizeof *kColours)]; }

 private:
  int lane_of(const std::string& backend) const {
    return static_cast<int>(std::find(lanes_.begin(), lanes_.end(), backend) - lanes_.begin());
  }
  std::string part(size_t i) const {
    const PlacedPart& p = view_.parts[i];
    const int lane = lane_of(p.backend), x = lane * kLane + 16, height = kPartHead + static_cast<int>(p.ops.size()) * kRow + 6;
    std::string s = "<rect x=\"" + n(x) + "\" y=\"" + n(tops_[i] - 4) + "\" width=\"" + n(kLane - 32) + "\" height=\"" + n(height) +
                    "\" rx=\"5\" class=\"part\" stroke=\"" + colour(static_cast<size_t>(lane)) + "\"/>";
    return s + "<text x=\"" + n(x + 8) + "\" y=\"" + n(tops_[i] + 12) + "\" class=\"note\">part " + std::to_string(i) + ", predicted " +
           real(p.predicted_ms) + " ms" + (p.has_fallback ? ", falls back to cpu" : "") + "</text>\n";
  }
  std::string line(size_t to, int from, bool moved) const {
    if (from < 0 || static_cast<size_t>(from) >= spots_.size()) return "";
    const Spot &a = spots_[static_cast<size_t>(from)], &b = spots_[to];
    if ((a.lane != b.lane) != moved) return "";
    if (moved) return moved_line(a, b);
    const int ax = a.x + kBox / 2, ay = a.y + kRow - 5, bx = b.x + kBox / 2, by = b.y;
    const bool next = b.y - a.y <= kRow + kPartHead + kPartGap;
    // Results that are read later go around the boxes between.
    const int side = next ? 0 : kBox / 2 + 14 + std::min(18, (b.y - a.y) / 60);
    return "<path class=\"edge\" d=\"M" + n(ax) + " " + n(ay) + " C" + n(ax + side) + " " + n(ay + 12) + " " + n(bx + side) + " " +
           n(by - 12) + " " + n(bx) + " " + n(by) + "\"/>\n";
  }
  // From the side of one box to the side of the other.
  static std::string moved_line(const Spot& a, const Spot& b) {
    const bool right = a.lane < b.lane;
    const int ax = a.x + (right ? kBox : 0), bx = b.x + (right ? 0 : kBox), ay = a.y + kRow / 2 - 3, by = b.y + kRow / 2 - 3;
    const int bend = (bx - ax) / 2;
    return "<path class=\"moved\" stroke=\"" + std::string(kMoved) + "\" d=\"M" + n(ax) + " " + n(ay) + " C" + n(ax + bend) + " " + n(ay) +
           " " + n(bx - bend) + " " + n(by) + " " + n(bx) + " " + n(by) + "\"/><text class=\"bytes\" fill=\"" + kMoved +
           "\" text-anchor=\"middle\" x=\"" + n((ax + bx) / 2) + "\" y=\"" + n((ay + by) / 2 + 4) + "\">" + bytes_text(a.op->result_bytes) +
           "</text>\n";
  }
  std::string box(const Spot& s) const {
    // As many letters as fit beside the operator's name.
    const size_t most = s.op->op.size() < 10 ? 26 : s.op->op.size() < 24 ? 36 - s.op->op.size() : 12;
    const std::string node = s.op->node.size() > most ? "..." + s.op->node.substr(s.op->node.size() - most + 3) : s.op->node;
    return "<g><title>" + escaped(s.op->node.empty() ? s.op->op : s.op->op + ": " + s.op->node) + "</title><rect x=\"" + n(s.x) +
           "\" y=\"" + n(s.y) + "\" width=\"" + n(kBox) + "\" height=\"" + n(kRow - 5) + "\" rx=\"3\" fill=\"" +
           colour(static_cast<size_t>(s.lane)) + "\"/><text class=\"op\" x=\"" + n(s.x + 7) + "\" y=\"" + n(s.y + 14) + "\">" +
           escaped(s.op->op) + "</text><text class=\"node\" text-anchor=\"end\" x=\"" + n(s.x + kBox - 7) + "\" y=\"" + n(s.y + 14) +
           "\">" + escaped(node) + "</text></g>\n";
  }

  const PlacementView& view_;
  std::vector<std::string> lanes_;
  std::vector<int> tops_;  // of the parts
  std::vector<Spot> spots_;
  int height_ = 0;
};

constexpr const char* kStyle =
    "body{font:14px system-ui,sans-serif;margin:24px;color:#222;background:#fff}table{border-collapse:collapse;margin:12px 0 24px}"
    "td,th{padding:3px 12px;border-bottom:1px solid #ddd;text-align:left}td.r{text-align:right}"
    ".key{color:#d62728}.lane{fill:#f7f7f8}.part{fill:none;stroke-opacity:.5}.head{font-size:17px;font-weight:600}.note{font-size:11px;"
    "fill:#555}"
    ".op{font-size:12px;fill:#fff;font-weight:600}.node{font-size:10px;fill:#fff;opacity:.9}"
    ".edge{fill:none;stroke:#9aa0a6;stroke-width:1.2}.moved{fill:none;stroke-width:2;stroke-dasharray:6 3}"
    ".bytes{font-size:11px;paint-order:stroke;stroke:#fff;stroke-width:4px}pre{background:#f7f7f8;padding:12px}";

std::string table_of(const PlacementView& view) {
  std::string s =
      "<table><tr><th>part</th><th>backend</th><th>version</th><th>operators</th><th>in</th><th>out</th><th>device memory</th>"
      "<th>predicted ms</th><th>overlap</th><th>fallback</th><th>needs</th></tr>\n";
  for (size_t i = 0; i < view.parts.size(); ++i) {
    const PlacedPart& p = view.parts[i];
    s += "<tr>";
    for (const std::string& cell :
         {std::to_string(i), p.backend, p.version, std::to_string(p.ops.size()), bytes_text(p.bytes_in), bytes_text(p.bytes_out),
          bytes_text(p.device_bytes), real(p.predicted_ms), p.overlap > 0 ? std::to_string(p.overlap) : std::string("none"),
          p.has_fallback ? std::string("cpu") : std::string("none"), p.capabilities})
      s += "<td>" + escaped(cell) + "</td>";
    s += "</tr>\n";
  }
  return s + "</table>\n";
}

}  // namespace

void write_placement_html(const std::string& path, const std::string& title, const PlacementView& view) {
  const Drawing drawing(view);
  uint64_t moved = 0;
  double ms = 0;
  for (const PlacedPart& p : view.parts) moved += p.bytes_in + p.bytes_out, ms += p.predicted_ms;
  std::string page = "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>" + escaped(title) + "</title><style>" +
                     kStyle + "</style></head><body>\n<h1>" + escaped(title) + "</h1>\n<p>" + parts_text(view.parts.size()) + ", " +
                     bytes_text(moved) + " moved in one run, predicted " + real(ms) + " ms. " +
                     (drawing.lane_count() > 1 ? "<span class=\"key\">Red, dashed</span>: results that go from one backend to another."
                                               : "Everything runs on one backend: nothing goes from one to another.") +
                     "</p>\n";
  page += table_of(view) + drawing.svg();
  if (!view.policy.empty()) page += "<h2>Policy</h2><pre>" + escaped(view.policy) + "</pre>\n";
  page += "</body></html>\n";
  std::string error;
  if (!write_whole_file(path, {page.begin(), page.end()}, &error)) throw Failure(path + ": " + error);
  std::printf("%s: %s\n", path.c_str(), parts_text(view.parts.size()).c_str());
}

}  // namespace mote::tools
