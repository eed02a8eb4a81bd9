#include "manager/transport/sink_gate.h"

#include <memory>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace mandate {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

struct NotingSink : StreamSink {
  Flow OnOpen(const HttpResponse& head) override {
    events.push_back("open " + std::to_string(head.code));
    return flow;
  }
  Flow OnData(std::string_view bytes) override {
    events.emplace_back(bytes);
    if (release != nullptr) release->Release();
    return flow;
  }
  void OnClosed(absl::Status status) override { events.push_back(status.ToString()); }

  std::vector<std::string> events;
  Flow flow = Flow::kContinue;
  SinkGate* release = nullptr;
};

HttpResponse Head() {
  HttpResponse head;
  head.code = 200;
  return head;
}

TEST(SinkGate, PassesEverythingOnInOrder) {
  auto sink = std::make_shared<NotingSink>();
  SinkGate gate(sink);
  EXPECT_TRUE(gate.Open(Head()));
  EXPECT_TRUE(gate.Open(Head()));  // once
  EXPECT_TRUE(gate.Data("a"));
  gate.Close(absl::OkStatus());
  EXPECT_FALSE(gate.Data("b"));
  gate.Close(absl::CancelledError(""));
  EXPECT_THAT(sink->events, ElementsAre("open 200", "a", "OK"));
  EXPECT_EQ(sink.use_count(), 1);
}

TEST(SinkGate, ACancellingSinkGetsOnlyTheEnd) {
  auto sink = std::make_shared<NotingSink>();
  sink->flow = StreamSink::Flow::kCancel;
  SinkGate gate(sink);
  EXPECT_FALSE(gate.Open(Head()));
  EXPECT_FALSE(gate.Data("a"));
  gate.Close(absl::OkStatus());
  EXPECT_THAT(sink->events, ElementsAre("open 200", "OK"));
}

TEST(SinkGate, AReleasedSinkGetsOnlyTheEnd) {
  auto sink = std::make_shared<NotingSink>();
  SinkGate gate(sink);
  gate.Release();
  EXPECT_EQ(sink.use_count(), 1);
  EXPECT_FALSE(gate.Open(Head()));
  EXPECT_FALSE(gate.Data("a"));
  EXPECT_THAT(sink->events, IsEmpty());
  gate.Close(absl::OkStatus());
  gate.Close(absl::CancelledError(""));
  EXPECT_THAT(sink->events, ElementsAre("OK"));
}

TEST(SinkGate, ASinkThatNobodyElseKeepsDiesWithItsRelease) {
  auto sink = std::make_shared<NotingSink>();
  const std::weak_ptr<NotingSink> weak = sink;
  SinkGate gate(std::move(sink));
  EXPECT_FALSE(weak.expired());
  gate.Release();
  EXPECT_TRUE(weak.expired());
  gate.Close(absl::OkStatus());
}

TEST(SinkGate, ASinkOutlivesTheCallbackThatReleasesIt) {
  auto sink = std::make_shared<NotingSink>();
  const std::weak_ptr<NotingSink> weak = sink;
  SinkGate gate(sink);
  sink->release = &gate;
  sink.reset();
  EXPECT_FALSE(gate.Data("a"));
  EXPECT_TRUE(weak.expired());
}

}  // namespace
}  // namespace mandate
