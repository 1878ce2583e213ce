#pragma once

// "did you mean": the nearest of the words that would have been right. For messages about names that a user gave.

#include <string>
#include <vector>

namespace mote::ir {

// The word with the fewest letters to add, leave out, change or swap; empty when none is near.
std::string nearest(const std::string& word, const std::vector<std::string>& known);

// " (did you mean 'compile'?)", or nothing.
std::string did_you_mean(const std::string& word, const std::vector<std::string>& known);

// "a, b, c": the first twenty words, and how many there are besides; "none".
std::string listed(const std::vector<std::string>& words);

}  // namespace mote::ir
