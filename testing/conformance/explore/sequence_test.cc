#include "testing/conformance/explore/sequence.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "testing/conformance/double/double_target.h"

namespace mandate::conformance::explore {
namespace {

constexpr char kNamespace[] =
    R"({"apiVersion":"v1","kind":"Namespace","metadata":{"name":"@{ns}"}})";
constexpr char kMap[] = R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a"}})";

Step Post(const std::string& target, const std::string& body) {
  return {.method = "POST",
          .target = target,
          .body = body,
          .has_body = true,
          .content = "application/json"};
}

// Two equal servers: they differ only in what the test does to one of them.
class SequenceTest : public ::testing::Test {
 protected:
  void SetUp() override {
    for (auto& one : made_) {
      auto made = DoubleTarget::Create();
      ASSERT_TRUE(made.ok()) << made.status();
      one = *std::move(made);
    }
  }
  Outcome Run(const std::vector<Step>& steps) {
    HttpClient there(ConnectionTo(0)), here(ConnectionTo(1));
    Side real = SideOf(there, 0), ours = SideOf(here, 1);
    return RunSequence(steps, "x1-2", real, ours);
  }
  // Sends the step to the second server only.
  void Disturb(const Step& step) {
    HttpClient here(ConnectionTo(1));
    Side ours = SideOf(here, 1), same = SideOf(here, 1);
    RunSequence({step}, "x1-2", ours, same);
  }

 private:
  Connection ConnectionTo(int which) { return made_[which]->target().connection; }
  Side SideOf(HttpClient& http, int which) {
    return {.http = &http, .tokens = {{"admin", made_[which]->target().token}}};
  }

  std::unique_ptr<DoubleTarget> made_[2];
};

TEST_F(SequenceTest, ComparesEveryAnswerAndEvent) {
  const Outcome outcome = Run(
      {Post("/api/v1/namespaces", kNamespace),
       {.method = "GET", .target = "/api/v1/namespaces/@{ns}/configmaps?watch=1", .watch = true},
       Post("/api/v1/namespaces/@{ns}/configmaps", kMap)});
  EXPECT_FALSE(outcome.difference) << outcome.difference->Explain();
  EXPECT_EQ(outcome.requests, 3u);
}

TEST_F(SequenceTest, EndsAtTheFirstDifference) {
  Disturb(Post("/api/v1/namespaces", kNamespace));
  const Outcome outcome = Run({{.method = "GET", .target = "/api/v1/namespaces/default/configmaps"},
                               Post("/api/v1/namespaces", kNamespace),
                               {.method = "GET", .target = "/healthz"}});
  ASSERT_TRUE(outcome.difference);
  EXPECT_EQ(outcome.difference->step, 1u);
  EXPECT_EQ(Gist(outcome.difference->real), "201");
  EXPECT_EQ(Gist(outcome.difference->ours),
            R"(409 AlreadyExists namespaces "<ns>" already exists)");
  EXPECT_EQ(outcome.requests, 2u);
}

}  // namespace
}  // namespace mandate::conformance::explore
