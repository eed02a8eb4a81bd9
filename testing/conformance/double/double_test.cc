// Runs all rows on the double, or with CONFORMANCE_FILTER=TEXT the rows whose "topic: name"
// contains TEXT.
#include <gtest/gtest.h>

#include <cstdlib>
#include <iostream>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "manager/core/strings.h"
#include "testing/conformance/cluster_target.h"
#include "testing/conformance/double/double_target.h"
#include "testing/conformance/row_parser.h"
#include "testing/conformance/suite.h"

namespace mandate::conformance {
namespace {

class DoubleTest : public testing::Test {
 protected:
  void Run(const std::string& folder) {
    auto rows = LoadRows(folder);
    ASSERT_TRUE(rows.ok()) << rows.status();
    if (const char* filter = std::getenv("CONFORMANCE_FILTER")) {
      std::erase_if(*rows, [&](const Row& row) {
        return !absl::StrContains(StrCat(row.topic, ": ", row.name), filter);
      });
    }
    const auto server = DoubleTarget::Create();
    ASSERT_TRUE(server.ok()) << server.status();
    Target target = (*server)->target();
    const absl::Status crds = InstallCrds(target, "charts/mandate/crds");
    ASSERT_TRUE(crds.ok()) << crds;
    target.crds = true;
    const std::vector<RowResult> results = RunSuite(*rows, target, {.run = "double"});
    EXPECT_TRUE(Report(results, std::cout));
    for (const RowResult& result : results) {
      EXPECT_EQ(result.skipped, !result.row->not_double.empty()) << result.row->name;
    }
  }
};

TEST_F(DoubleTest, PassesTheRows) { Run("testing/conformance/rows"); }

// The double rejects requests that it does not support, and its error names the feature.
TEST_F(DoubleTest, RejectsUnsupportedRequests) { Run("testing/conformance/double/rows"); }

}  // namespace
}  // namespace mandate::conformance
