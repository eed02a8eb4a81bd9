// A component that writes and reads, among writes of others, faults and changing rights. Each read
// shows its earlier writes, or an error has the reason.
#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <set>
#include <string>

#include "manager/cache/cache.h"
#include "manager/cache/testing/cache_fixture.h"
#include "manager/core/strings.h"
#include "manager/core/testing/seeds.h"

namespace mandate {
namespace {

constexpr absl::Duration kMost = absl::Seconds(20);

struct Totals {
  int64_t reads = 0;
  int64_t answered = 0;  // with an object, a list or its absence
  int64_t late = 0;      // given up
  double seen = 0;       // after a wait
};

class Simulation {
 public:
  explicit Simulation(uint64_t seed) : die_(seed), server_(loop_, seed * 37 + 11) {
    Cache::Options options{.loop = loop_, .metrics = metrics_};
    options.seed = seed;
    options.own_write_wait = kMost;
    options.reflector.watch_list = die_() % 3 != 0;
    options.reflector.page_size = 1 + static_cast<int>(die_() % 4);
    cache_ = *Cache::Create(options);
    server_.Serve(client_);
    view_ = &cache_->AddComponent(client_, kReader);
    server_.Grant("a");
    for (const char* scope : {"foo", "bar"}) {
      if (die_() % 3 != 0) demands_.push_back(view_->Demand({kWidget, scope, ""}, nullptr));
    }
    if (die_() % 2 == 0 || demands_.empty()) {
      demands_.push_back(view_->Demand({kWidget, "", ""}, nullptr));
    }
    const auto chance = [this](double most) {
      return most * std::uniform_real_distribution<double>(0, 1)(die_);
    };
    server_.faults() = {.refuse_watch = chance(0.2),
                        .refuse_list = chance(0.2),
                        .expire_page = chance(0.2),
                        .no_watch_list = chance(0.5),
                        .cut = chance(0.1),
                        .garbage = chance(0.02),
                        .drop_bookmark = chance(0.3),
                        .refuse_review = chance(0.5),
                        .delay = absl::Milliseconds(die_() % 4000)};
  }

  void Run(Totals& totals) {
    for (int step = 0; step < 150; ++step) {
      Step(totals);
      if (die_() % 3 == 0) loop_.RunFor(absl::Milliseconds(die_() % 3000));
      if (die_() % 25 == 0) loop_.RunFor(absl::Minutes(2));
    }
    server_.faults() = {};
    server_.Grant("a");
    cache_->RecheckAccess();
    loop_.RunFor(absl::Minutes(11));
    const int64_t late = totals.late;
    for (int i = 0; i < 6; ++i) {
      for (const char* ns : {"foo", "bar"}) Read({ns, StrCat(i)}, totals);
    }
    EXPECT_EQ(totals.late, late) << "in fair weather nothing is given up";
    totals.seen += metrics_
                       .Counter("mandate_cache_own_write_waits_total", "",
                                {{"identity", "a"}, {"outcome", "seen"}})
                       .Value();
  }

 private:
  // The facts that are known about an object.
  struct Known {
    int noted = 0;               // the newest version of the component's own that was answered
    std::set<std::string> gone;  // UIDs whose deletion was answered
    int deleted = 0;             // when the server deleted one of the name last
    int made = 0;                // the first version of the one on the server now; 0: there is none
  };

  void Step(Totals& totals) {
    const ObjectKey key = {die_() % 2 == 0 ? "foo" : "bar", StrCat(die_() % 6)};
    switch (die_() % 16) {
      case 0:
        return server_.Compact();
      case 1:
        if (die_() % 4 == 0) server_.Revoke("a");
        return cache_->RecheckAccess();
      case 2:
      case 3:
        server_.Grant("a");
        return cache_->RecheckAccess();
      case 4:
        Put(key);  // another's
        return;
      case 5:
        return Remove(key);
      case 6:
      case 7:
        return Delete(key);
      case 8:
      case 9:
      case 10: {
        const int version = Put(key);
        Answer([this, key, version] {
          client_.own_writes().Wrote(kWidget, key, StrCat(version));
          known_[key].noted = std::max(known_[key].noted, version);
        });
        if (die_() % 2 == 0) Read(key, totals);
        return;
      }
      case 11:
      case 12:
        return List(die_() % 2 == 0 ? key.ns : "", totals);
      default:
        return Read(key, totals);
    }
  }

  // The answer to a write comes now, or after the watch's event.
  void Answer(std::function<void()> note) {
    if (die_() % 2 == 0) return note();
    loop_.PostAt(loop_.clock().TimeNow() + absl::Milliseconds(die_() % 6000), std::move(note));
  }

  int Put(const ObjectKey& key) {
    const int version = server_.Put(key.ToString());
    if (known_[key].made == 0) known_[key].made = version;
    return version;
  }
  void Remove(const ObjectKey& key) {
    known_[key].deleted = server_.Delete(key.ToString());
    known_[key].made = 0;
  }

  // The object that the component reads. If it is gone or replaced, the answer says so.
  void Delete(const ObjectKey& key) {
    const auto object = view_->GetRaw({}, kWidget, key);
    if (!object.ok()) return;
    const std::string uid((*object)->uid());
    const int version = std::stoi(std::string((*object)->resource_version()));
    if (known_[key].made != 0 && version >= known_[key].made) Remove(key);
    Answer([this, key, uid] {
      client_.own_writes().Deleted(kWidget, key, uid);
      known_[key].gone.insert(uid);
    });
  }

  // Checks a read that began when this was known.
  void Check(const ObjectKey& key, const Known& before, const RawObject* object) {
    if (object == nullptr) {
      EXPECT_GE(known_[key].deleted, before.noted) << key.ToString() << " is missing";
      return;
    }
    EXPECT_GE(std::stoi(std::string(object->resource_version())), before.noted) << key.ToString();
    EXPECT_FALSE(before.gone.contains(std::string(object->uid()))) << key.ToString();
  }

  template <class T>
  bool Answered(const absl::StatusOr<T>& read, absl::Time began, Totals& totals) {
    ++totals.reads;
    EXPECT_LE(loop_.clock().TimeNow() - began, kMost);
    totals.late += absl::IsDeadlineExceeded(read.status());
    const bool answered = read.ok() || absl::IsNotFound(read.status());
    totals.answered += answered;
    EXPECT_TRUE(answered || absl::IsDeadlineExceeded(read.status()) ||
                absl::IsUnavailable(read.status()) || absl::IsPermissionDenied(read.status()) ||
                absl::IsFailedPrecondition(read.status()))
        << read.status();
    return answered;
  }

  void Read(const ObjectKey& key, Totals& totals) {
    const Known before = known_[key];
    const absl::Time began = loop_.clock().TimeNow();
    const auto object = view_->GetRaw({}, kWidget, key);
    if (Answered(object, began, totals)) Check(key, before, object.ok() ? object->get() : nullptr);
  }

  void List(const std::string& ns, Totals& totals) {
    const std::map<ObjectKey, Known> before = known_;
    const absl::Time began = loop_.clock().TimeNow();
    const auto list = view_->ListRaw({}, kWidget, ns);
    if (!Answered(list, began, totals)) return;
    std::map<ObjectKey, const RawObject*> found;
    for (const auto& object : *list) found[object->Key()] = object.get();
    for (const auto& [key, known] : before) {
      if (ns.empty() || key.ns == ns) Check(key, known, found.contains(key) ? found[key] : nullptr);
    }
  }

  std::mt19937_64 die_;
  SimulatedLoop loop_;
  WidgetServer server_;
  Metrics metrics_;
  FakeRestClient client_{loop_, "a"};
  std::unique_ptr<Cache> cache_;
  CacheView* view_ = nullptr;
  std::vector<std::unique_ptr<DemandHandle>> demands_;
  std::map<ObjectKey, Known> known_;
};

TEST(ReadYourWritesSimulation, ReadsShowOwnWrites) {
  Totals totals;
  const int64_t ran = RunSeeds(150, [&](uint64_t seed) { Simulation(seed).Run(totals); });
  if (ran < 100) return;
  // The intended faults did happen.
  EXPECT_GT(totals.reads, 50 * ran);
  EXPECT_GT(totals.answered, 20 * ran);
  EXPECT_GT(totals.seen, 3.0 * static_cast<double>(ran));
  EXPECT_LT(20 * totals.late, totals.reads);
}

}  // namespace
}  // namespace mandate
