// Runs the product in simulation: the server reaches the declared state, even if the process is
// killed or disturbed meanwhile.
#include <gtest/gtest.h>

#include <cstdlib>
#include <iostream>

#include "manager/core/testing/seeds.h"
#include "testing/simulation/scope/not_yet.h"
#include "testing/simulation/scope/run.h"

namespace mandate::simulation {
namespace {

TEST(ScopeRuns, TheServerComesToWhatIsDeclared) {
  Tally tally;
  const int64_t ran = RunSeeds(200, [&](uint64_t seed) {
    simulation::Run run(simulation::Run::OptionsOf(seed), tally);
    run.Go();
    for (const std::string& wrong : run.wrong()) ADD_FAILURE() << wrong;
  });
  std::cout << ran << " runs:\n";
  Print(std::cout, tally);
  if (ran < 100) return;
  for (const std::string& kind : simulation::Run::Kinds()) {
    if (NotYet().contains(kind)) continue;
    EXPECT_GT(tally[kind], 0) << kind << " never happened";
  }
}

}  // namespace
}  // namespace mandate::simulation
