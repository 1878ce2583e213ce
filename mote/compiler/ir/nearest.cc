#include "mote/compiler/ir/nearest.h"

#include <algorithm>
#include <cctype>
#include <cstdint>

namespace mote::ir {
namespace {

constexpr size_t kMostListed = 20;

// Damerau-Levenshtein distance where no part is edited twice.
size_t distance(const std::string& a, const std::string& b) {
  std::vector<std::vector<size_t>> d(a.size() + 1, std::vector<size_t>(b.size() + 1));
  for (size_t i = 0; i <= a.size(); ++i) d[i][0] = i;
  for (size_t j = 0; j <= b.size(); ++j) d[0][j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    for (size_t j = 1; j <= b.size(); ++j) {
      d[i][j] = std::min({d[i - 1][j] + 1, d[i][j - 1] + 1, d[i - 1][j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1)});
      const bool swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
      if (swapped) d[i][j] = std::min(d[i][j], d[i - 2][j - 2] + 1);
    }
  }
  return d[a.size()][b.size()];
}

std::string folded(std::string s) {
  std::transform(s.begin(), s.end(), s.begin(), [](unsigned char c) { return c == '_' ? '-' : static_cast<char>(std::tolower(c)); });
  return s;
}

}  // namespace

std::string nearest(const std::string& word, const std::vector<std::string>& known) {
  std::string best;
  size_t least = SIZE_MAX;
  const std::string given = folded(word);
  for (const std::string& k : known) {
    const std::string other = folded(k);
    // A third of the letters may be wrong; beginnings count as near ("quant" for "quantize").
    const size_t most = std::max<size_t>(1, std::max(given.size(), other.size()) / 3);
    const bool begins = given.size() > 2 && other.compare(0, given.size(), given) == 0;
    const size_t d = begins ? 1 : distance(given, other);
    if (d <= most && d < least) least = d, best = k;
  }
  return best;
}

std::string did_you_mean(const std::string& word, const std::vector<std::string>& known) {
  const std::string near = nearest(word, known);
  return near.empty() ? "" : " (did you mean '" + near + "'?)";
}

std::string listed(const std::vector<std::string>& words) {
  std::string text;
  for (size_t i = 0; i < std::min(words.size(), kMostListed); ++i) text += (i > 0 ? ", " : "") + words[i];
  if (words.size() > kMostListed) text += " and " + std::to_string(words.size() - kMostListed) + " more";
  return words.empty() ? "none" : text;
}

}  // namespace mote::ir
