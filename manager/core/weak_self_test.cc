#include "manager/core/weak_self.h"

#include <gtest/gtest.h>

#include <functional>
#include <optional>

#include "absl/functional/any_invocable.h"

namespace mandate {
namespace {

TEST(WeakSelfTest, RunsACallbackAsLongAsTheOwnerExists) {
  std::optional<WeakSelf> weak(std::in_place);
  int sum = 0;
  std::function<void(int)> add = weak->Bind([&](int i) { sum += i; });
  add(1);
  weak.reset();
  add(2);
  EXPECT_EQ(sum, 1);
}

TEST(WeakSelfTest, ResetEndsOnlyEarlierCallbacks) {
  WeakSelf weak;
  int sum = 0;
  auto before = weak.Bind([&] { sum += 1; });
  weak.Reset();
  auto after = weak.Bind([&] { sum += 10; });
  before();
  after();
  EXPECT_EQ(sum, 10);
}

TEST(WeakSelfTest, AResultComesFromTheOtherCallbackOnceTheOwnerIsGone) {
  std::optional<WeakSelf> weak(std::in_place);
  auto twice = weak->BindOr([](int i) { return 2 * i; }, [](int) { return -1; });
  EXPECT_EQ(twice(4), 8);
  weak.reset();
  EXPECT_EQ(twice(4), -1);
}

TEST(WeakSelfTest, TheOwnerMayEndInsideItsCallback) {
  std::optional<WeakSelf> weak(std::in_place);
  auto owned = std::make_unique<int>(7);
  int seen = 0;
  absl::AnyInvocable<void(std::unique_ptr<int>)&&> end =
      weak->Bind([&](std::unique_ptr<int> value) {
        weak.reset();
        seen = *value;
      });
  std::move(end)(std::move(owned));
  EXPECT_EQ(seen, 7);
}

}  // namespace
}  // namespace mandate
