#include "testing/conformance/suite.h"

#include <gtest/gtest.h>

#include <sstream>

#include "manager/transport/testing/h2_server.h"
#include "manager/transport/testing/test_pki.h"
#include "testing/conformance/row_parser.h"

namespace mandate::conformance {
namespace {

constexpr char kRows[] = R"(
rows:
- name: right
  steps: [{GET /a: , body: {n: 1}}]
- name: wrong
  steps: [{GET /a: , body: {n: 2}}]
- name: needy
  needs: [crds]
  steps: [{GET /a: , is: 200}]
- name: excused
  not-double: it counts otherwise
  steps: [{GET /a: , body: {n: 2}}]
- name: excused in vain
  not-double: it counts otherwise
  steps: [{GET /a: , body: {n: 1}}]
- name: alone
  alone: true
  steps: [{GET /a: , body: {n: 1}}]
)";

class SuiteTest : public testing::Test {
 protected:
  std::string Run(bool is_double) {
    Target target;
    target.connection = {.server = server_->url(), .ca_pem = ca_.certificate_pem()};
    target.token = "t";
    target.is_double = is_double;
    const std::vector<RowResult> results = RunSuite(*rows_, target, {.run = "test"});
    std::string outcome;
    for (const RowResult& r : results) {
      outcome += r.skipped ? 's' : r.status.ok() ? 'p' : 'f';
    }
    passed_ = Report(results, report_);
    return outcome;
  }

  const absl::StatusOr<std::vector<Row>> rows_ = ParseRows(kRows, "rows/t.yaml");
  const TestCa ca_;
  // The server answers every creation with 201, and every object has n = 1.
  const std::unique_ptr<H2Server> server_ =
      *H2Server::Create({.ca = &ca_}, [](std::shared_ptr<ServerStream> stream) {
        stream->Respond(stream->request().method == "POST" ? 201 : 200, R"({"n":1})");
      });
  std::ostringstream report_;
  bool passed_ = true;
};

TEST_F(SuiteTest, TellsRightFromWrongAndFromWhatCannotRun) {
  ASSERT_TRUE(rows_.ok()) << rows_.status();
  EXPECT_EQ(Run(/*is_double=*/false), "pfsfpp");
  EXPECT_FALSE(passed_);
  EXPECT_NE(report_.str().find("FAILED t: wrong\n  rows/t.yaml:6: GET /a: body.n: expected 2"),
            std::string::npos)
      << report_.str();
  EXPECT_NE(
      report_.str().find("SKIPPED t: needy\n  the row needs crds, which this run does not have"),
      std::string::npos);
  EXPECT_TRUE(report_.str().ends_with("\n3 passed, 2 failed\n"));
}

TEST_F(SuiteTest, AnExcuseOfTheDoubleMustHold) {
  ASSERT_TRUE(rows_.ok()) << rows_.status();
  EXPECT_EQ(Run(/*is_double=*/true), "pfssfp");
  EXPECT_NE(report_.str().find("remove its not-double line"), std::string::npos);
}

}  // namespace
}  // namespace mandate::conformance
