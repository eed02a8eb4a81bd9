#include "rbacgen/report/short_diff.h"

#include <algorithm>
#include <vector>

#include "manager/core/strings.h"

namespace mandate::rbacgen {
namespace {

std::vector<std::string_view> LinesOf(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size() - 1) + 1;
    lines.push_back(text.substr(0, end));
    text.remove_prefix(end);
  }
  return lines;
}

}  // namespace

ShortDiff DiffOf(std::string_view before, std::string_view after, size_t max_lines) {
  if (before == after) return {};
  const auto a = LinesOf(before), b = LinesOf(after);
  size_t begin = 0;
  while (begin < a.size() && begin < b.size() && a[begin] == b[begin]) ++begin;
  size_t end = 0;
  while (end < a.size() - begin && end < b.size() - begin &&
         a[a.size() - 1 - end] == b[b.size() - 1 - end]) {
    ++end;
  }
  const size_t removed = a.size() - begin - end, added = b.size() - begin - end;
  ShortDiff diff = {
      .line = static_cast<int>(begin) + 1,
      .text = StrCat("@@ -", begin + 1, ",", removed, " +", begin + 1, ",", added, " @@\n")};
  // Each side may use at least half of the lines, and also those that the other side does not need.
  const auto add = [&](char sign, const std::vector<std::string_view>& lines, size_t count,
                       size_t other) {
    const size_t shown =
        std::min(count, std::max(max_lines / 2, max_lines - std::min(other, max_lines)));
    for (size_t i = begin; i < begin + shown; ++i) {
      std::string_view line = lines[i];
      if (line.ends_with('\n')) line.remove_suffix(1);
      diff.text += sign;
      StrAppend(&diff.text, line, "\n");
    }
    if (shown < count) StrAppend(&diff.text, "(", count - shown, " more lines)\n");
  };
  add('-', a, removed, added);
  add('+', b, added, removed);
  return diff;
}

}  // namespace mandate::rbacgen
