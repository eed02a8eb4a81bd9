// The difference of two texts, short enough to read in a report.
#pragma once

#include <string>
#include <string_view>

namespace mandate::rbacgen {

struct ShortDiff {
  int line = 0;  // the first line of `before` that differs, from 1; 0 if the texts are equal
  std::string
      text;  // "-" and "+" lines, at most `max_lines` of them, after a "@@ -1,2 +1,3 @@" line
};

// The difference is all lines between the common beginning and the common end of both texts.
ShortDiff DiffOf(std::string_view before, std::string_view after, size_t max_lines = 20);

}  // namespace mandate::rbacgen
