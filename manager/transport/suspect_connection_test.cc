// Connections whose other end may be gone: they get no new requests, are probed, and are closed.
#include <gtest/gtest.h>

#include <functional>

#include "manager/transport/testing/connection_budget_fixture.h"

namespace mandate {
namespace {

TEST_F(ConnectionBudgetTest, AConnectionInDoubtGetsNoNewRequests) {
  struct Row {
    const char* name;
    absl::Duration silence;
    std::function<void(NotingRequest&, ScriptedCodec&)> what;
    bool probed;
    size_t connections;  // then; /next is on the last
  };
  const absl::Duration suspect_connection_after = options_.suspect_connection_after;
  const Row rows[] = {
      {"a request ran out of time in silence", suspect_connection_after,
       [](NotingRequest& late, ScriptedCodec&) { late.RunOutOfTime(); }, true, 2},
      {"others were answered meanwhile", suspect_connection_after - absl::Milliseconds(1),
       [](NotingRequest& late, ScriptedCodec&) { late.RunOutOfTime(); }, false, 1},
      {"nobody waits for it any more", suspect_connection_after,
       [](NotingRequest& late, ScriptedCodec&) { late.Cancel(); }, false, 1},
      {"something came afterwards", suspect_connection_after,
       [this](NotingRequest& late, ScriptedCodec& codec) {
         late.RunOutOfTime();
         loop_.RunReady();
         codec.Hear();
       },
       true, 1},
  };
  size_t codecs = 0;
  for (const Row& row : rows) {
    SCOPED_TRACE(row.name);
    UseNewBudget(4);
    Submit("/slow");
    ASSERT_EQ(network_.size(), codecs + 1);
    ScriptedCodec& codec = network_.codec(codecs);
    codec.Answer("/slow");
    const auto late = Submit("/late");
    codec.Send("/late");
    codec.Hear();
    loop_.RunFor(row.silence);
    row.what(*late, codec);
    loop_.RunReady();
    Submit("/next");
    EXPECT_EQ(network_.size(), codecs + row.connections);
    EXPECT_TRUE(network_.codec(network_.size() - 1).Has("/next"));
    // It does not wait for read_idle_timeout.
    EXPECT_EQ(codec.Has("/livez"), row.probed);
    EXPECT_TRUE(codec.Has("/slow"));
    codecs = network_.size();
  }
}

TEST_F(ConnectionBudgetTest, SilentConnectionsAreProbedWhenOneIsInDoubt) {
  int doubts = 0;
  UseNewBudget(4, [&] { ++doubts; });
  Submit("/quiet", "a", "https://one");
  Submit("/busy", "a", "https://two");
  const auto late = Submit("/late", "a", "https://three");
  network_.codec(CodecOf("/quiet")).Answer("/quiet");
  network_.codec(CodecOf("/busy")).Answer("/busy");
  network_.codec(CodecOf("/late")).Send("/late");
  loop_.RunFor(options_.suspect_connection_after);
  network_.codec(CodecOf("/busy")).Hear();
  EXPECT_EQ(doubts, 0);
  late->RunOutOfTime();
  loop_.RunReady();
  EXPECT_EQ(doubts, 1);
  budget_->Probe();
  EXPECT_TRUE(network_.codec(CodecOf("/quiet")).Has("/livez"));
  EXPECT_FALSE(network_.codec(CodecOf("/busy")).Has("/livez"));
}

TEST_F(ConnectionBudgetTest, AProbeThatCannotBeSentIsNotWaitedFor) {
  Connect(1);
  Submit("/slow");
  network_.codec(0).Send("/slow");
  network_.RefuseRequests(absl::InternalError("no memory"));
  loop_.RunFor(options_.read_idle_timeout + options_.probe_timeout);
  EXPECT_EQ(budget_->connections(), 1u);
  EXPECT_EQ(stats_.probes, 0u);
  network_.RefuseRequests(absl::OkStatus());
  loop_.RunFor(options_.read_idle_timeout - options_.probe_timeout);
  EXPECT_TRUE(network_.codec(0).Has("/livez"));
  loop_.RunFor(options_.probe_timeout);
  EXPECT_EQ(budget_->connections(), 0u);
  EXPECT_EQ(stats_.connections_lost, 1u);
}

TEST_F(ConnectionBudgetTest, AConnectionInDoubtIsClosedAfterItsLastRequest) {
  Connect(1);
  const auto late = Submit("/late");
  network_.codec(0).Send("/late");
  loop_.RunFor(options_.suspect_connection_after);
  late->RunOutOfTime();
  loop_.RunReady();
  EXPECT_EQ(budget_->connections(), 0u);
  EXPECT_EQ(stats_.connections_suspected, 1u);
  Submit("/next");
  EXPECT_TRUE(network_.codec(1).Has("/next"));
}

TEST_F(ConnectionBudgetTest, AProbeUsesTheCredentialOfARemainingRequest) {
  options_.read_idle_timeout = absl::Seconds(30);
  Connect(1);
  Submit("/stays", "stays");
  Submit("/revoked", "revoked");
  network_.codec(0).Send("/stays");
  network_.codec(0).Send("/revoked");
  Finish(0, "/revoked");
  loop_.RunFor(options_.read_idle_timeout);
  const ActiveRequest* const probe = network_.codec(0).Get("/livez");
  ASSERT_NE(probe, nullptr);
  EXPECT_EQ(probe->request().user_agent, "stays");
}

}  // namespace
}  // namespace mandate
