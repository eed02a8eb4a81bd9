// The rows of testing/conformance/rows/access_audit.yaml test the events themselves.
#include "testing/apiserver/access/audit_log.h"

#include <memory>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "manager/core/strings.h"
#include "manager/core/testing/simulated_loop.h"
#include "manager/object/json.h"
#include "testing/apiserver/testing/recorded_exchange.h"

namespace mandate::apiserver {
namespace {

using ::testing::ElementsAre;
using ::testing::Pair;

std::shared_ptr<RecordedExchange> Pass(AuditLog& log) {
  auto exchange =
      std::make_shared<RecordedExchange>(Request::Parse("GET", "/api/v1/pods", {}, "").value());
  log.Watch(exchange);
  return exchange;
}

TEST(AuditLogTest, ClosedConnectionIsWrittenAs200) {
  const SimulatedClock clock;
  std::vector<std::string> lines;
  const auto sink = [&](std::string line) {
    const Json::Value event = ParseJson(line).value();
    lines.push_back(StrCat(event["auditID"].asString(), " ", event["stage"].asString(), " ",
                           event["responseStatus"]["code"].asInt()));
  };
  AuditLog log(sink, clock, [] { return "id-1"; });
  Pass(log)->MarkGone();
  EXPECT_THAT(lines, ElementsAre("id-1 ResponseComplete 200"));
}

TEST(AuditLogTest, ResponseHasIdAndWarningsWithoutASink) {
  const SimulatedClock clock;
  AuditLog log(nullptr, clock, [] { return "id-1"; });
  const auto exchange = Pass(log);
  exchange->request().notes->warnings = {"care \"ful\""};
  exchange->Respond({});
  EXPECT_THAT(exchange->head().headers,
              ElementsAre(Pair("audit-id", "id-1"), Pair("warning", R"(299 - "care \"ful\"")")));
}

}  // namespace
}  // namespace mandate::apiserver
