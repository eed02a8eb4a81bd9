// One component's trouble does not affect another (invariant 5). There is a row for each resource
// that components share. The trouble lasts until the row ends, so a shared resource that is not
// split makes the row hang. bulkhead_benchmark measures the latency of the quiet component's
// events.
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
