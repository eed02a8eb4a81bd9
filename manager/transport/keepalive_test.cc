#include "manager/transport/keepalive.h"

#include "gtest/gtest.h"
#include "manager/core/testing/simulated_loop.h"

namespace mandate {
namespace {

class KeepaliveTest : public ::testing::Test {
 protected:
  SimulatedLoop loop_;
  bool can_probe_ = true;
  int probes_ = 0;
  int deaths_ = 0;
  Keepalive keepalive_{loop_,
                       {.read_idle_timeout = absl::Seconds(30), .probe_timeout = absl::Seconds(15)},
                       {.send_probe =
                            [this] {
                              probes_ += can_probe_;
                              return can_probe_;
                            },
                        .found_dead = [this] { ++deaths_; }}};
};

TEST_F(KeepaliveTest, ProbesAfterSilenceThenReportsDeath) {
  keepalive_.Start();
  loop_.RunFor(absl::Seconds(29));
  EXPECT_EQ(probes_, 0);
  loop_.RunFor(absl::Seconds(1));
  EXPECT_EQ(probes_, 1);
  loop_.RunFor(absl::Seconds(14));
  EXPECT_EQ(deaths_, 0);
  loop_.RunFor(absl::Seconds(1));
  EXPECT_EQ(deaths_, 1);
  loop_.RunFor(absl::Hours(1));
  EXPECT_EQ(probes_, 1);
  EXPECT_EQ(deaths_, 1);
}

TEST_F(KeepaliveTest, DoubtDoesNotWaitForTheSilence) {
  keepalive_.Suspect();  // nothing is on the connection
  EXPECT_EQ(probes_, 0);
  keepalive_.Start();
  loop_.RunFor(absl::Seconds(5));
  EXPECT_EQ(keepalive_.silence(), absl::Seconds(5));
  keepalive_.Suspect();
  EXPECT_EQ(probes_, 1);
  loop_.RunFor(absl::Seconds(10));
  keepalive_.Suspect();  // a probe is under way
  EXPECT_EQ(probes_, 1);
  loop_.RunFor(absl::Seconds(4));
  EXPECT_EQ(deaths_, 0);
  loop_.RunFor(absl::Seconds(1));
  EXPECT_EQ(deaths_, 1);
}

TEST_F(KeepaliveTest, DoubtThatCannotProbeWaitsForTheSilence) {
  can_probe_ = false;
  keepalive_.Start();
  loop_.RunFor(absl::Seconds(20));
  keepalive_.Suspect();
  can_probe_ = true;
  loop_.RunFor(absl::Seconds(10));
  EXPECT_EQ(probes_, 1);
}

TEST_F(KeepaliveTest, DataPostponesTheProbe) {
  keepalive_.Start();
  for (int i = 0; i < 10; ++i) {
    loop_.RunFor(absl::Seconds(20));
    keepalive_.NoteReceived();
  }
  EXPECT_EQ(probes_, 0);
  loop_.RunFor(absl::Seconds(30));
  EXPECT_EQ(probes_, 1);
}

TEST_F(KeepaliveTest, AnAnsweredProbeIsFollowedByTheNext) {
  keepalive_.Start();
  loop_.RunFor(absl::Seconds(31));
  keepalive_.NoteReceived();  // at 31 s
  EXPECT_EQ(probes_, 1);
  loop_.RunFor(absl::Seconds(29));
  EXPECT_EQ(probes_, 1);
  loop_.RunFor(absl::Seconds(1));  // 61 s
  EXPECT_EQ(probes_, 2);
  EXPECT_EQ(deaths_, 0);
}

TEST_F(KeepaliveTest, AProbeThatCannotBeSentProvesNothing) {
  can_probe_ = false;
  keepalive_.Start();
  loop_.RunFor(absl::Minutes(10));
  EXPECT_EQ(deaths_, 0);
  can_probe_ = true;
  loop_.RunFor(absl::Seconds(30));
  EXPECT_EQ(probes_, 1);
  keepalive_.ProbeNotSent();
  loop_.RunFor(absl::Seconds(29));
  EXPECT_EQ(deaths_, 0);
  EXPECT_EQ(probes_, 1);
}

TEST_F(KeepaliveTest, DataAtTheMomentOfTheProbeShowsLife) {
  keepalive_.Start();
  loop_.RunFor(absl::Seconds(30));
  EXPECT_EQ(probes_, 1);
  keepalive_.NoteReceived();
  loop_.RunFor(absl::Seconds(15));
  EXPECT_EQ(deaths_, 0);
}

TEST_F(KeepaliveTest, AProbeThatWasNotSentStartsNothingOnAnIdleConnection) {
  keepalive_.Start();
  loop_.RunFor(absl::Seconds(30));
  keepalive_.Stop();
  keepalive_.ProbeNotSent();
  loop_.RunFor(absl::Hours(1));
  EXPECT_EQ(probes_, 1);
  EXPECT_EQ(deaths_, 0);
}

TEST_F(KeepaliveTest, AnIdleConnectionIsLeftAlone) {
  keepalive_.Start();
  keepalive_.Stop();
  loop_.RunFor(absl::Hours(1));
  EXPECT_EQ(probes_, 0);
  keepalive_.Start();
  loop_.RunFor(absl::Seconds(29));
  EXPECT_EQ(probes_, 0);
}

}  // namespace
}  // namespace mandate
