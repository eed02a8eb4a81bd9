// How often each thing happened in all runs: a simulation proves nothing about a trouble that never
// happened.
#pragma once

#include <cstdint>
#include <map>
#include <ostream>
#include <string>

namespace mandate::simulation {

// Counts by name, such as "kill: answer lost".
using Tally = std::map<std::string, int64_t>;

inline std::ostream& Print(std::ostream& out, const Tally& tally) {
  for (const auto& [what, count] : tally) out << "  " << count << "  " << what << "\n";
  return out;
}

}  // namespace mandate::simulation
