// Many texts in one message.
#pragma once

#include <string>
#include <vector>

namespace mandate::scope {

// The first ten texts, and how many others there are: "a; b; and 3 more".
std::string Summarise(const std::vector<std::string>& texts);

}  // namespace mandate::scope
