// The limits on the bytes that a list or a watch may hold in memory.
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "manager/cache/list_pager.h"
#include "manager/cache/testing/reflector_fixture.h"

namespace mandate {
namespace {

class ReflectorBoundsTest : public ReflectorFixture {
 protected:
  double Held() {
    const Labels identity = {{"identity", std::string(client_.component())}};
    return metrics_.Gauge("mandate_cache_budget_used_bytes", "", identity).Value();
  }
  // Of more than 1,000 bytes.
  static std::string LargeWidgetJson() {
    std::string large = WidgetJson("a/a", 1);
    large.insert(large.size() - 1, R"(,"data":")" + std::string(1000, 'x') + "\"");
    return large;
  }
  void OnFailure(const Reflector::Failure& failure) override {
    ReflectorFixture::OnFailure(failure);
    is_long_ = failure.is_long;
  }

  bool is_long_ = false;  // the last failure
};

// A watch that tenants demand, beside one that the component declares, which may take the room.
class EvictionTest : public ReflectorBoundsTest {
 protected:
  EvictionTest() { flows_ = {"tenant"}; }
  void OnEvicted() override {
    ++evictions_;
    states_ += " evicted";
    store_.Replace({}, "");
    reflector_->OnPurged();
  }
  void LeaveRoom(size_t bytes) {
    declared_bytes_ = (size_t{1} << 40) - bytes;
    EXPECT_TRUE(declared_.Set(declared_bytes_).ok());
    EXPECT_EQ(evictions_, 0) << "never inside a call";
  }
  void Evict() {
    LeaveRoom(0);
    loop_.RunReady();
  }
  double HeldByOthers() const { return static_cast<double>(declared_bytes_); }

  WatchBudget::Account declared_{budget_, client_.component()};
  size_t declared_bytes_ = 0;
  int evictions_ = 0;
};

TEST_F(ReflectorBoundsTest, PagesAreBounded) {
  options_.max_pages = 3;
  StartWithList(200, ListJson("10", {}, "more"), /*times=*/3);
  EXPECT_EQ(lists(), 3u);
  EXPECT_EQ(state(), DemandState::kPending);
  EXPECT_EQ(reflector_->status().reason.code(), absl::StatusCode::kResourceExhausted);
}

// The bytes that components share are admitted for the whole list, not for each page alone.
TEST_F(ReflectorBoundsTest, PagesAreAdmittedTogether) {
  const std::string large = LargeWidgetJson();
  AddList(200, ListJson("10", {large}, "more"));
  AddList(200, ListJson("10", {WidgetJson("a/b", 2)}));
  std::vector<size_t> admitted;
  ListPager pager(client_, spec_, {.admit = [&](size_t bytes) {
                    admitted.push_back(bytes);
                    return absl::OkStatus();
                  }});
  pager.Start([](const auto&) {});
  loop_.RunReady();
  ASSERT_FALSE(admitted.empty());
  EXPECT_GT(admitted.back(), large.size());
}

// The copy that is kept of an object may be larger than the object that has arrived.
TEST_F(ReflectorBoundsTest, PagesAreBoundedByWhatIsKept) {
  AddList(200, ListJson("10", {WidgetJson("a/a", 1)}, "more"));
  AddList(200, ListJson("10", {WidgetJson("a/b", 2)}));
  const ObjectPtr kept = *ParseRawObject(LargeWidgetJson(), Encoding::kJson);
  ListPager pager(client_, spec_, {.max_list_bytes = 500, .pack = [&](ObjectPtr) { return kept; }});
  absl::Status ended;
  pager.Start([&](absl::StatusOr<ListPager::Result> result) { ended = result.status(); });
  loop_.RunReady();
  EXPECT_EQ(ended.code(), absl::StatusCode::kResourceExhausted) << ended;
}

// A page is larger than the memory in which its objects fit when they are packed.
TEST_F(ReflectorBoundsTest, APageIsPackedAsItComes) {
  std::shared_ptr<BodySink> body;
  client_.HandleLate([&](const RestRequest& request, const auto&) { body = request.body_sink; });
  const std::string large = LargeWidgetJson();
  const std::string page = ListJson("10", std::vector<std::string>(100, large));
  const ObjectPtr packed = Widget("a/a", 1);
  size_t most = 0;
  ListPager pager(client_, spec_,
                  {.pack = [&](ObjectPtr) { return packed; },
                   .admit =
                       [&](size_t bytes) {
                         most = std::max(most, bytes);
                         return absl::OkStatus();
                       }});
  pager.Start([](const auto&) {});
  loop_.RunReady();
  ASSERT_NE(body, nullptr);
  // The second time the request is repeated: what came before does not count.
  for (int i = 0; i < 2; ++i) {
    most = 0;
    body->OnHeaders(FakeRestClient::Json(200, ""));
    for (size_t at = 0; at < page.size(); at += 512) {
      ASSERT_EQ(body->OnBody(page.substr(at, 512)), absl::OkStatus());
    }
    EXPECT_GE(most, 99 * packed->stored_size());
    EXPECT_LT(most, 100 * packed->stored_size() + 2 * large.size() + 512);
  }
}

// Blanks never become an item.
TEST_F(ReflectorBoundsTest, APageIsAdmittedAsItComes) {
  std::shared_ptr<BodySink> body;
  client_.HandleLate([&](const RestRequest& request, const auto&) { body = request.body_sink; });
  std::vector<size_t> admitted;
  auto pager = std::make_unique<ListPager>(
      client_, spec_, ListPager::Options{.admit = [&](size_t bytes) {
        admitted.push_back(bytes);
        return bytes > 100 ? absl::ResourceExhaustedError("enough") : absl::OkStatus();
      }});
  pager->Start([](const auto&) {});
  loop_.RunReady();
  ASSERT_NE(body, nullptr);
  body->OnHeaders(FakeRestClient::Json(200, ""));
  const std::string blanks(60, ' ');
  EXPECT_EQ(body->OnBody(blanks), absl::OkStatus());
  EXPECT_EQ(body->OnBody(blanks), absl::ResourceExhaustedError("enough"));
  EXPECT_EQ(admitted, (std::vector<size_t>{60, 120}));
  pager.reset();
  EXPECT_EQ(body->OnBody(blanks).code(), absl::StatusCode::kCancelled);
}

TEST_F(ReflectorBoundsTest, AListThatFailsHoldsNothing) {
  StartWithList(200, R"({"items":[)");
  EXPECT_EQ(state(), DemandState::kPending);
  EXPECT_EQ(Held(), 0);
}

// The reflector waits, as after a list that is too large, and does not list instead.
TEST_F(ReflectorBoundsTest, InitialEventsAreBoundedInBytes) {
  options_.max_bytes = 3 * WidgetJson("a/1", 10).size();
  StartAndOpen();
  FakeWatch& watch = LastWatch();
  for (int i = 1; i <= 3; ++i) Send(EventJson("ADDED", WidgetJson(StrCat("a/", i), 10 + i)));
  EXPECT_FALSE(watch.cancelled()) << "that much may be";
  Send(EventJson("ADDED", WidgetJson("a/4", 14)));
  EXPECT_TRUE(watch.cancelled());
  EXPECT_EQ(state(), DemandState::kPending);
  EXPECT_EQ(reflector_->status().reason.code(), absl::StatusCode::kResourceExhausted);
  EXPECT_NE(reflector_->status().reason.message().find("max_bytes"), std::string::npos);
  EXPECT_EQ(lists(), 0u);
  EXPECT_EQ(store_.size(), 0u);
  EXPECT_EQ(Held(), 0);
  EXPECT_EQ(Metric("mandate_cache_overflows_total"), 1);
  EXPECT_GE(TimeToRequest(), absl::Milliseconds(800));
  EXPECT_EQ(LastQuery("sendInitialEvents"), "true");
  LastWatch().Open();
  Send(EventJson("ADDED", WidgetJson("a/4", 14)) + BookmarkJson("20", true));
  EXPECT_EQ(state(), DemandState::kSynced) << "there is less by now";
}

TEST_F(ReflectorBoundsTest, AWatchIsBoundedInBytes) {
  options_.max_bytes = 1000;
  FakeWatch& watch = StartSynced(10);
  int sent = 0;
  while (state() == DemandState::kSynced && sent < 100) {
    ++sent;
    Send(EventJson("ADDED", WidgetJson(StrCat("a/", sent), 10 + sent)));
  }
  EXPECT_LT(sent, 20);
  EXPECT_TRUE(watch.cancelled());
  EXPECT_EQ(state(), DemandState::kStale);
  EXPECT_EQ(reflector_->status().reason.code(), absl::StatusCode::kResourceExhausted);
  EXPECT_LT(store_.bytes().stored, 2 * options_.max_bytes);
  AddList(200, ListJson("200", {WidgetJson("a/1", 11)}));
  EXPECT_GE(NextRequest(), absl::Milliseconds(800));
  Open();
  EXPECT_EQ(state(), DemandState::kSynced);
}

// While the whole state comes again, the larger counts: the former state, or the part that has
// come.
TEST_F(ReflectorBoundsTest, ARelistIsHeldOnce) {
  const std::string x = WidgetJson("a/x", 5);
  StartAndOpen();
  Send(EventJson("ADDED", x) + EventJson("ADDED", WidgetJson("a/y", 6)) + BookmarkJson("10", true));
  const double before = Held();
  EXPECT_EQ(before, store_.bytes().stored);
  Send(ErrorJson(410, "Expired"));
  TimeToRequest();
  LastWatch().Open();
  Send(EventJson("ADDED", x));
  EXPECT_EQ(Held(), before);
  Send(BookmarkJson("20", true));
  EXPECT_EQ(Held(), store_.bytes().stored);
  EXPECT_LT(Held(), before);
}

// The wider watch, which had counted them, has ended.
TEST_F(ReflectorBoundsTest, TheObjectsOfAStoreThatIsTakenBackCount) {
  Make();
  store_.Put(Widget("a/x", 5));
  reflector_->StartFrom("7");
  EXPECT_EQ(Held(), store_.bytes().stored);
  loop_.RunReady();
  Open();
  EXPECT_EQ(state(), DemandState::kSynced);
  EXPECT_EQ(Held(), store_.bytes().stored);
}

// Another client may have room; this does not help while the server does not answer.
TEST_F(ReflectorBoundsTest, AFailureIsLongOnlyWhileTheBudgetIsUsedUp) {
  WatchBudget::Account others(budget_, client_.component());
  StartSynced(10);
  EXPECT_FALSE(others.Set((size_t{1} << 40) + 1).ok());
  Send(EventJson("ADDED", WidgetJson("a/x", 11)));
  EXPECT_EQ(reflector_->status().reason.code(), absl::StatusCode::kResourceExhausted);
  EXPECT_TRUE(is_long_);
  NextRequest();
  EXPECT_EQ(reflector_->status().reason.code(), absl::StatusCode::kUnavailable);
  EXPECT_FALSE(is_long_);
}

// The whole list may take any time.
TEST_F(ReflectorBoundsTest, WaitsForAListWhileItsBytesCome) {
  options_.watch_list = false;
  std::shared_ptr<BodySink> body;
  client_.HandleLate([&](const RestRequest& request, const auto&) { body = request.body_sink; });
  Start();
  ASSERT_NE(body, nullptr);
  body->OnHeaders(FakeRestClient::Json(200, ""));
  for (int i = 0; i < 4; ++i) {
    EXPECT_EQ(body->OnBody(" "), absl::OkStatus());
    loop_.RunFor(options_.response_timeout - absl::Seconds(1));
    EXPECT_EQ(failures_, 0);
  }
  loop_.RunFor(absl::Seconds(1));
  EXPECT_EQ(failures_, 1);
}

TEST_F(EvictionTest, TheWatchEndsAndTriesAgainFromTheStart) {
  FakeWatch& watch = StartSynced(10, {WidgetJson("a/x", 5)});
  Evict();
  EXPECT_EQ(evictions_, 1);
  EXPECT_TRUE(watch.cancelled());
  EXPECT_EQ(state(), DemandState::kPending);
  EXPECT_TRUE(reflector_->status().failed);
  EXPECT_EQ(reflector_->status().reason.code(), absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(Held(), HeldByOthers()) << "it holds nothing";
  EXPECT_TRUE(declared_.Set(0).ok());
  AddList(200, ListJson("20", {WidgetJson("a/x", 5)}));
  EXPECT_GE(NextRequest(), absl::Milliseconds(800));
  Open();
  EXPECT_EQ(state(), DemandState::kSynced);
  EXPECT_EQ(evictions_, 1);
}

TEST_F(EvictionTest, ADenialStays) {
  StartSynced(10, {WidgetJson("a/x", 5)});
  reflector_->Forbid(absl::PermissionDeniedError("no"));
  Evict();
  EXPECT_EQ(evictions_, 1);
  EXPECT_EQ(state(), DemandState::kForbidden);
}

TEST_F(EvictionTest, WhatWaitsToBeReadCountsToo) {
  StartSynced(10, {WidgetJson("a/x", 5)});
  Send("{" + std::string(100'000, ' '));
  EXPECT_EQ(Held(), 100'001 + store_.bytes().stored);
  Evict();
  EXPECT_EQ(evictions_, 1);
  EXPECT_EQ(Held(), HeldByOthers());
}

TEST_F(EvictionTest, AListWithoutRoomIsEvicted) {
  StartSynced(10, {WidgetJson("a/x", 5)});
  Send(ErrorJson(410, "Expired"));
  LeaveRoom(store_.bytes().stored);
  AddList(200, ListJson("20", {WidgetJson("a/x", 5), WidgetJson("a/y", 6)}));
  TakeStates();
  NextRequest();
  EXPECT_EQ(TakeStates(), "Stale evicted Pending");
  EXPECT_EQ(reflector_->status().reason.code(), absl::StatusCode::kResourceExhausted);
  EXPECT_TRUE(reflector_->status().failed);
  EXPECT_EQ(Held(), HeldByOthers());
}

TEST_F(EvictionTest, BytesThatWaitWithoutRoomAreEvicted) {
  StartSynced(10, {WidgetJson("a/x", 5)});
  TakeStates();
  LeaveRoom(100'000);
  Send(std::string(200'000, '{'));
  EXPECT_EQ(TakeStates(), "Stale evicted Pending");
  EXPECT_EQ(Held(), HeldByOthers());
}

// The limits of one watch have nothing to do with the room of others.
TEST_F(EvictionTest, AnotherLimitKeepsTheStore) {
  options_.max_queue_bytes = 1000;
  StartSynced(10, {WidgetJson("a/x", 5)});
  TakeStates();
  Send(std::string(2000, '{'));
  EXPECT_EQ(TakeStates(), "Stale");
  EXPECT_EQ(store_.size(), 1u);
}

// The new client's component has the room.
TEST_F(EvictionTest, AHandOverEndsAnEviction) {
  StartSynced(10, {WidgetJson("a/x", 5)});
  TakeStates();
  LeaveRoom(1);
  reflector_->UseClient(other_);
  loop_.RunReady();
  EXPECT_EQ(TakeStates(), "");
  EXPECT_EQ(store_.size(), 1u);
}

// The server has just closed the watch, and the eviction is due in the next turn.
TEST_F(EvictionTest, AWatchThatIsOpenedAgainMeanwhileIsEvicted) {
  StartSynced(10, {WidgetJson("a/x", 5)});
  TakeStates();
  loop_.RunFor(absl::Seconds(2));
  LastWatch().Close(absl::OkStatus());
  LeaveRoom(1);
  loop_.RunReady();
  loop_.RunFor(absl::Milliseconds(1));
  EXPECT_NE(TakeStates().find("evicted"), std::string::npos);
  EXPECT_EQ(Held(), HeldByOthers());
}

// The same, of a watch that waits for a new list.
TEST_F(EvictionTest, AWatchThatFailsMeanwhileIsEvicted) {
  StartSynced(10, {WidgetJson("a/x", 5)});
  TakeStates();
  LastWatch().Send(ErrorJson(410, "Expired"));
  LeaveRoom(1);
  loop_.RunReady();
  loop_.RunFor(absl::Milliseconds(1));
  EXPECT_NE(TakeStates().find("evicted"), std::string::npos);
  EXPECT_EQ(Held(), HeldByOthers());
}

}  // namespace
}  // namespace mandate
