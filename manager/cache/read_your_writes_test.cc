// Reads that include the component's own writes. own_write_gate_test.cc tests which writes a store
// shows. In the simulation the waiting thread runs the loop meanwhile.
#include <gtest/gtest.h>

#include "manager/cache/cache.h"
#include "manager/cache/testing/cache_fixture.h"
#include "manager/core/strings.h"

namespace mandate {
namespace {

class ReadYourWritesTest : public CacheFixture {
 protected:
  void SetUp() override {
    server_.Grant("a");
    server_.Put("foo/x");
    view_ = &Add(a_);
    server_.faults().delay = absl::Seconds(2);
  }
  // Writes as the component's typed calls do, and returns the version.
  std::string Put(const char* name, const char* ns = "foo") {
    const std::string version = std::to_string(server_.Put(std::string(ns) + "/" + name));
    a_.own_writes().Wrote(kWidget, {ns, name}, version);
    return version;
  }
  void Delete(const char* name) {
    const std::string uid = Uid(name);
    server_.Delete(std::string("foo/") + name);
    a_.own_writes().Deleted(kWidget, {"foo", name}, uid);
  }
  std::string Uid(const char* name) {
    const auto object = view_->GetRaw({}, kWidget, {"foo", name});
    return object.ok() ? std::string((*object)->uid()) : std::string(object.status().message());
  }
  CallContext Within(absl::Duration time) {
    return {.deadline = loop_.clock().TimeNow() + time, .stop = {}};
  }
  // The version that is read; "absent"; or the error's code.
  std::string Read(const char* name, const CallContext& context = {}) {
    const auto object = view_->GetRaw(context, kWidget, {"foo", name});
    if (object.ok()) return std::string((*object)->resource_version());
    if (absl::IsNotFound(object.status())) return "absent";
    return absl::StatusCodeToString(object.status().code());
  }
  std::string List(std::string_view ns, const CallContext& context = {}) {
    const auto list = view_->ListRaw(context, kWidget, ns);
    return list.ok() ? Text(*list) : absl::StatusCodeToString(list.status().code());
  }
  // How long `read` took.
  absl::Duration Took(const std::function<void()>& read) {
    const absl::Time before = loop_.clock().TimeNow();
    read();
    return loop_.clock().TimeNow() - before;
  }
  double Waits(const std::string& outcome) {
    return metrics_
        .Counter("mandate_cache_own_write_waits_total", "",
                 {{"identity", "a"}, {"outcome", outcome}})
        .Value();
  }
  void Sync() { loop_.RunFor(absl::Seconds(10)); }

  CacheView* view_ = nullptr;
};

// Has a demand for all namespaces.
class SyncedReadYourWritesTest : public ReadYourWritesTest {
 protected:
  void SetUp() override {
    ReadYourWritesTest::SetUp();
    demand_ = Demand(*view_);
    Sync();
  }

  Demanded demand_;
};

TEST_F(SyncedReadYourWritesTest, EveryReadShowsTheWrite) {
  for (int round = 0; round < 20; ++round) {
    const std::string x = Put("x");
    EXPECT_EQ(Read("x"), x);
    const std::string y = Put("y");
    EXPECT_EQ(List("foo"), "foo/x@" + x + " foo/y@" + y);
    Delete("y");
    EXPECT_EQ(Read("y"), "absent");
    Delete("x");
    EXPECT_EQ(List(""), "");
  }
  EXPECT_GT(Waits("seen"), 20);
  EXPECT_EQ(Waits("timeout"), 0);
  const Labels identity = {{"identity", "a"}};
  const auto waited =
      metrics_.Histogram("mandate_cache_own_write_wait_seconds", "", identity, {}).Collect();
  EXPECT_EQ(waited.histogram.sample_count, static_cast<uint64_t>(Waits("seen")));
  EXPECT_GT(waited.histogram.sample_sum, 1);
}

TEST_F(SyncedReadYourWritesTest, WritesOfOtherComponentsAreNotWaitedFor) {
  server_.Put("foo/x");
  Put("other");
  EXPECT_EQ(Took([&] { EXPECT_EQ(Read("x"), "101"); }), absl::ZeroDuration())
      << "another key's write";
  Demanded in_bar = Demand(*view_, "bar");
  EXPECT_EQ(Took([&] { EXPECT_EQ(List("bar"), ""); }), absl::ZeroDuration())
      << "another namespace's";
}

TEST_F(SyncedReadYourWritesTest, ASeenWriteIsNotWaitedForAgain) {
  // The answer may come after the event.
  const std::string version = std::to_string(server_.Put("foo/x"));
  Sync();
  a_.own_writes().Wrote(kWidget, {"foo", "x"}, version);
  EXPECT_EQ(Took([&] { EXPECT_EQ(Read("x"), version); }), absl::ZeroDuration());
  const std::string uid = Uid("x");
  server_.Delete("foo/x");
  Sync();
  a_.own_writes().Deleted(kWidget, {"foo", "x"}, uid);
  EXPECT_EQ(Took([&] { EXPECT_EQ(Read("x"), "absent"); }), absl::ZeroDuration());
  EXPECT_FALSE(a_.own_writes().MayHave(kWidget)) << "what was seen is forgotten";
  EXPECT_EQ(Waits("seen"), 0);
}

TEST_F(ReadYourWritesTest, AWriteIsForgottenWhenEveryStoreShowsIt) {
  Demanded everywhere = Demand(*view_);
  Demanded in_foo = Demand(*view_, "foo");
  Sync();
  Delete("x");
  EXPECT_EQ(List(""), "") << "which the watch on foo cannot answer";
  EXPECT_TRUE(a_.own_writes().MayHave(kWidget)) << "and may not have shown yet";
  EXPECT_EQ(Read("x"), "absent");
}

TEST_F(SyncedReadYourWritesTest, EachWriteOfAListIsForgottenByItself) {
  for (const std::string in_two : {"x", "y"}) {
    SCOPED_TRACE(in_two);
    Demanded one = Demand(*view_, "foo", in_two);
    Sync();
    Put("x");
    Put("y");
    List("");
    for (const std::string name : {"x", "y"}) {
      EXPECT_EQ(a_.own_writes().Pending(kWidget, "foo", name).empty(), name != in_two) << name;
    }
    one.handle.reset();
    Sync();
    List("");
  }
  EXPECT_FALSE(a_.own_writes().MayHave(kWidget));
}

TEST_F(SyncedReadYourWritesTest, SeesADeletionAfterTheNameIsUsedAgain) {
  const std::string first = Uid("x");
  Delete("x");
  server_.Put("foo/x");
  EXPECT_NE(Uid("x"), first) << "by another";
  const std::string second = Uid("x");
  Delete("x");
  const std::string again = Put("x");
  EXPECT_EQ(Read("x"), again) << "by the component itself";
  EXPECT_NE(Uid("x"), second);
}

TEST_F(ReadYourWritesTest, AnUnreadableScopeIsNotWaitedFor) {
  Put("x");
  EXPECT_EQ(Took([&] {
              EXPECT_EQ(Read("x"), "FAILED_PRECONDITION") << "no demand";
              EXPECT_EQ(List(""), "FAILED_PRECONDITION");
            }),
            absl::ZeroDuration());
  Demanded demand = Demand(*view_, "bar");
  EXPECT_EQ(Took([&] {
              EXPECT_EQ(Read("x"), "FAILED_PRECONDITION") << "a demand of elsewhere";
              EXPECT_EQ(List("bar"), "UNAVAILABLE") << "not synced yet";
            }),
            absl::ZeroDuration());
  Sync();
  EXPECT_EQ(List("bar"), "") << "foo's write is not of this namespace";
  server_.Revoke("a");
  Demanded all = Demand(*view_);
  Sync();
  EXPECT_EQ(Took([&] { EXPECT_EQ(List(""), "PERMISSION_DENIED"); }), absl::ZeroDuration());
}

TEST_F(SyncedReadYourWritesTest, StopsWaitingAtItsDeadline) {
  a_.own_writes().Wrote(kWidget, {"foo", "x"}, "1000");
  EXPECT_EQ(Took([&] { EXPECT_EQ(Read("x"), "DEADLINE_EXCEEDED"); }), absl::Seconds(10))
      << "the cache's own bound";
  EXPECT_EQ(Waits("timeout"), 1);
  EXPECT_EQ(Took([&] { EXPECT_EQ(Read("x", Within(absl::Seconds(3))), "DEADLINE_EXCEEDED"); }),
            absl::Seconds(3))
      << "the caller's";
  EXPECT_EQ(Waits("timeout"), 2);
  EXPECT_EQ(Took([&] { EXPECT_EQ(Read("x", NonBlockingContext()), "DEADLINE_EXCEEDED"); }),
            absl::ZeroDuration());
  EXPECT_EQ(Read("x", Within(absl::ZeroDuration())), "DEADLINE_EXCEEDED");
  EXPECT_EQ(Waits("timeout"), 2) << "these reads did not wait";
  const auto object = view_->GetRaw(NonBlockingContext(), kWidget, {"foo", "x"});
  const std::string_view why = AsStd(object.status().message());
  EXPECT_NE(why.find("the component's own write of widgets.example.com \"x\" in namespace foo at "
                     "resource version 1000"),
            why.npos)
      << why;
  EXPECT_EQ(Read("never"), "absent") << "others are read all the same";
}

TEST_F(SyncedReadYourWritesTest, AStopEndsTheWait) {
  a_.own_writes().Wrote(kWidget, {"foo", "x"}, "1000");
  std::stop_source stop;
  loop_.PostAt(loop_.clock().TimeNow() + absl::Seconds(5), [&] { stop.request_stop(); });
  EXPECT_EQ(Took([&] { EXPECT_EQ(Read("x", {.stop = stop.get_token()}), "CANCELLED"); }),
            absl::Seconds(5));
}

TEST_F(SyncedReadYourWritesTest, LosingAccessEndsTheWait) {
  a_.own_writes().Wrote(kWidget, {"foo", "x"}, "1000");
  server_.Revoke("a");
  loop_.PostAt(loop_.clock().TimeNow() + absl::Seconds(5), [this] { cache_->RecheckAccess(); });
  EXPECT_LT(Took([&] { EXPECT_EQ(Read("x"), "PERMISSION_DENIED"); }), absl::Seconds(9));
  EXPECT_EQ(Waits("unreadable"), 1);
}

TEST_F(SyncedReadYourWritesTest, ARelistBringsTheWrite) {
  server_.faults().cut = 1;
  const std::string version = Put("y");
  Sync();
  server_.Compact();
  server_.faults() = {};
  loop_.RunFor(absl::Minutes(1));
  EXPECT_EQ(Read("y"), version);
  EXPECT_EQ(List("foo"), "foo/x@101 foo/y@" + version);
}

TEST_F(SyncedReadYourWritesTest, TheEndOfTheWatchEndsTheWait) {
  server_.faults().delay = absl::Hours(1);
  Put("x");
  loop_.PostAt(loop_.clock().TimeNow() + absl::Seconds(1), [&] { demand_.handle.reset(); });
  EXPECT_EQ(Took([&] { EXPECT_EQ(Read("x"), "UNAVAILABLE"); }), absl::Seconds(1));
}

}  // namespace
}  // namespace mandate
