#include "manager/core/closest_name.h"

#include <algorithm>

#include "manager/core/strings.h"

namespace mandate {

size_t EditDistance(std::string_view a, std::string_view b) {
  // costs[i][j]: of the first i letters of `a` and the first j of `b`.
  std::vector<std::vector<size_t>> costs(a.size() + 1, std::vector<size_t>(b.size() + 1));
  for (size_t i = 0; i <= a.size(); ++i) {
    for (size_t j = 0; j <= b.size(); ++j) {
      size_t& cost = costs[i][j];
      if (i == 0 || j == 0) {
        cost = i + j;
        continue;
      }
      const size_t replaced = costs[i - 1][j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      cost = std::min({costs[i - 1][j] + 1, costs[i][j - 1] + 1, replaced});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
        cost = std::min(cost, costs[i - 2][j - 2] + 1);
      }
    }
  }
  return costs[a.size()][b.size()];
}

std::optional<std::string> ClosestName(std::string_view name,
                                       const std::vector<std::string>& known) {
  std::optional<std::string> nearest;
  size_t least = std::max<size_t>(1, name.size() / 3) + 1;
  for (const std::string& other : known) {
    const size_t distance = EditDistance(name, other);
    // A replaced name of one letter has nothing in common with the other.
    if (distance >= std::min(least, std::max(name.size(), other.size()))) continue;
    least = distance;
    nearest = other;
  }
  return nearest;
}

std::string DidYouMean(std::string_view name, const std::vector<std::string>& known) {
  const auto near = ClosestName(name, known);
  return near.has_value() ? StrCat("; did you mean ", *near, "?") : "";
}

}  // namespace mandate
