// The known name closest to a mistyped one, for messages: unknown column, sampler, setting, TOML key.
// Distance: insertions, deletions, substitutions and swaps of neighbours, one each (optimal string alignment).
// Cost: O(|wanted| |known|) per name; only ever run on the way to an error.
#pragma once
#include <string>
#include <vector>

namespace kilochain {

/// The name of `known` with the smallest edit distance to `wanted`; the first of equals, upper and lower case and
/// "-" and "_" taken as the same. A name that has `wanted` as some of its words ("chains" of "num_chains") is nearer
/// than one that differs in a letter. Empty where more than a slip in each six letters and one more would have to
/// change: two people would not guess the same then, and no guess is better.
std::string near_name(const std::string& wanted, const std::vector<std::string>& known);

/// "Did you mean NAME?" of a near name, or `otherwise`.
std::string did_you_mean(const std::string& wanted, const std::vector<std::string>& known,
                         const std::string& otherwise);

}  // namespace kilochain
