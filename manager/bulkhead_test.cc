// One component's trouble stays its own (invariant 5): a row for each thing that components share.
// The trouble does not end before the row is over, so a shared thing that is not split makes the
// row hang. How long the quiet component's events take meanwhile: bulkhead_benchmark.
#include <gtest/gtest.h>

#include "manager/testing_bulkhead.h"

namespace mandate {
namespace {

class BulkheadTest : public testing::TestWithParam<Trouble> {};

TEST_P(BulkheadTest, TheQuietComponentWorks) {
  Bulkhead bulkhead;
  GetParam().prepare(bulkhead);
  bulkhead.Run();
  bulkhead.Probe();
  GetParam().begin(bulkhead);
  const size_t before = bulkhead.reconciled();
  for (int i = 0; i < 20; ++i) bulkhead.Probe();
  GetParam().check(bulkhead);
  bulkhead.Probe();
  EXPECT_EQ(bulkhead.reconciled(), before + 21);
}

INSTANTIATE_TEST_SUITE_P(Troubles, BulkheadTest, testing::ValuesIn(Troubles()),
                         [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace mandate
