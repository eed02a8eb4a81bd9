// How often each thing happened, over all runs: a simulation in which some kind of trouble never
// came proves nothing about it.
#ifndef TESTING_SIMULATION_SCOPE_TALLY_H_
#define TESTING_SIMULATION_SCOPE_TALLY_H_

#include <cstdint>
#include <map>
#include <ostream>
#include <string>

namespace mandate::simulation {

// By what happened: "kill: answer lost".
using Tally = std::map<std::string, int64_t>;

inline std::ostream& Print(std::ostream& out, const Tally& tally) {
  for (const auto& [what, count] : tally) out << "  " << count << "  " << what << "\n";
  return out;
}

}  // namespace mandate::simulation

#endif  // TESTING_SIMULATION_SCOPE_TALLY_H_
