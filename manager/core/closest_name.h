// The known name that a mistyped one probably means.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace mandate {

// How many insertions, removals, replacements or swaps of neighbours make `a` into `b` (the
// "optimal string alignment" distance).
size_t EditDistance(std::string_view a, std::string_view b);

// The nearest of `known`, the first of them at a tie. nullopt if more than a third of the letters
// of `name` must change, though one always may.
std::optional<std::string> ClosestName(std::string_view name,
                                       const std::vector<std::string>& known);

// "; did you mean --namespace?", or "" without a near name.
std::string DidYouMean(std::string_view name, const std::vector<std::string>& known);

}  // namespace mandate
