#include "controllers/transition_event.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "manager/controller/testing/fake_event_recorder.h"
#include "manager/core/testing/log_capture.h"
#include "manager/core/testing/simulated_loop.h"

namespace mandate {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

ConditionList List(const std::vector<DesiredCondition>& desired) {
  return MakeConditions(desired, {}, 1, absl::FromUnixSeconds(1));
}

std::vector<std::string> Recorded(const std::vector<DesiredCondition>& before,
                                  const std::vector<DesiredCondition>& after,
                                  bool in_progress = false) {
  FakeEventRecorder recorder;
  const ObjectRef regarding{"v1", "Thing", "", "foo", "uid"};
  const auto capture = std::make_shared<LogCapture>();
  const SimulatedClock clock;
  RecordTransition(recorder, Logger(capture, clock), regarding, "Ready", List(before), List(after),
                   in_progress);
  std::vector<std::string> all;
  for (const auto& event : recorder.events()) all.push_back(event.ToString());
  EXPECT_EQ(capture->Count("Condition changed"), static_cast<int>(all.size()));
  for (const char* text : {"kind=Thing", "condition=Ready", "reason="}) {
    EXPECT_EQ(capture->Count(text), static_cast<int>(all.size())) << text;
  }
  return all;
}

TEST(TransitionEventTest, ANewStatusOrReasonIsRecorded) {
  const DesiredCondition good{"Ready", true, "Fine", "all well"};
  const DesiredCondition reworded{"Ready", true, "Fine", "very well"};
  const DesiredCondition other_reason{"Ready", true, "Better", "even so"};
  const DesiredCondition bad{"Ready", false, "Broken", "no"};
  EXPECT_THAT(Recorded({}, {good}), ElementsAre("Normal Fine Thing foo: all well"));
  EXPECT_THAT(Recorded({good}, {good}), IsEmpty());
  EXPECT_THAT(Recorded({good}, {reworded}), IsEmpty());
  EXPECT_THAT(Recorded({good}, {other_reason}), ElementsAre("Normal Better Thing foo: even so"));
  EXPECT_THAT(Recorded({good}, {bad}), ElementsAre("Warning Broken Thing foo: no"));
  EXPECT_THAT(Recorded({good}, {bad}, /*in_progress=*/true),
              ElementsAre("Normal Broken Thing foo: no"));
  EXPECT_THAT(Recorded({bad}, {good}), ElementsAre("Normal Fine Thing foo: all well"));
}

TEST(TransitionEventTest, OtherConditionsAreNotRecorded) {
  EXPECT_THAT(Recorded({}, {{"Effective", false, "X", "y"}}), IsEmpty());
  EXPECT_THAT(Recorded({{"Ready", true, "Fine", ""}}, {}), IsEmpty());
}

}  // namespace
}  // namespace mandate
