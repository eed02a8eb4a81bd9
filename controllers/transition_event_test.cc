#include "controllers/transition_event.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "manager/core/testing/log_capture.h"
#include "manager/core/testing/simulated_loop.h"

namespace mandate {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

class Recorder : public EventRecorder {
 public:
  void Eventf(const ObjectRef& regarding, EventType type, std::string_view reason, std::string_view,
              std::string_view note) override {
    all.push_back(std::string(type == EventType::kWarning ? "Warning " : "Normal ") +
                  regarding.name + " " + std::string(reason) + ": " + std::string(note));
  }
  std::vector<std::string> all;
};

ConditionList List(const std::vector<DesiredCondition>& desired) {
  return MakeConditions(desired, {}, 1, absl::FromUnixSeconds(1));
}

std::vector<std::string> Recorded(const std::vector<DesiredCondition>& before,
                                  const std::vector<DesiredCondition>& after) {
  Recorder recorder;
  const ObjectRef regarding{"v1", "Thing", "", "foo", "uid"};
  const auto capture = std::make_shared<LogCapture>();
  const SimulatedClock clock;
  RecordTransition(recorder, Logger(capture, clock), regarding, "Ready", List(before), List(after));
  EXPECT_EQ(capture->Count("Condition changed"), static_cast<int>(recorder.all.size()));
  for (const char* text : {"kind=Thing", "name=foo", "condition=Ready", "reason="}) {
    EXPECT_EQ(capture->Count(text), static_cast<int>(recorder.all.size())) << text;
  }
  return recorder.all;
}

TEST(TransitionEventTest, OnlyAnotherStatusOrReasonIsTold) {
  const DesiredCondition good{"Ready", true, "Fine", "all well"};
  const DesiredCondition reworded{"Ready", true, "Fine", "very well"};
  const DesiredCondition other_reason{"Ready", true, "Better", "even so"};
  const DesiredCondition bad{"Ready", false, "Broken", "no"};
  EXPECT_THAT(Recorded({}, {good}), ElementsAre("Normal foo Fine: all well"));
  EXPECT_THAT(Recorded({good}, {good}), IsEmpty());
  EXPECT_THAT(Recorded({good}, {reworded}), IsEmpty());
  EXPECT_THAT(Recorded({good}, {other_reason}), ElementsAre("Normal foo Better: even so"));
  EXPECT_THAT(Recorded({good}, {bad}), ElementsAre("Warning foo Broken: no"));
  EXPECT_THAT(Recorded({bad}, {good}), ElementsAre("Normal foo Fine: all well"));
}

TEST(TransitionEventTest, OtherConditionsAreNotTold) {
  EXPECT_THAT(Recorded({}, {{"Effective", false, "X", "y"}}), IsEmpty());
  EXPECT_THAT(Recorded({{"Ready", true, "Fine", ""}}, {}), IsEmpty());
}

}  // namespace
}  // namespace mandate
