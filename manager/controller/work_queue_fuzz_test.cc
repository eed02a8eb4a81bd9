// Random operations compared with a model of the pending request of each key, and of the turns of
// the namespaces; and many threads at once.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <map>
#include <random>
#include <set>
#include <string>
#include <thread>
#include <tuple>
#include <utility>
#include <vector>

#include "manager/controller/work_queue.h"
#include "manager/core/strings.h"
#include "manager/core/testing/seeds.h"

namespace mandate {
namespace {

struct Model {
  bool processing = false;
  bool owed = false;  // an add that no Get() has answered yet
  absl::Time ready_at;
  int priority = 0;
  int failures = 0;
  absl::Time retry_at = absl::InfinitePast();
  absl::Time not_before = absl::InfinitePast();

  bool held() const { return processing || owed; }
};

class Fuzz {
 public:
  explicit Fuzz(uint64_t seed) : random_(seed), max_of_namespace_(seed % 4) {}

  void Run() {
    for (step_ = 0; step_ < 3000; ++step_) {
      Step();
      NoteReady();
      if (testing::Test::HasFatalFailure()) return;
    }
    // No request was lost: all owed ones come out in the end.
    now_ += absl::Hours(1000);
    NoteReady();
    if (Pick(4) == 0) return EndByShutDown();
    while (!held_.empty()) Next();
    for (Take(); !held_.empty(); Take()) Next();
    for (const auto& [key, model] : models_) EXPECT_FALSE(model.owed) << key.name;
    EXPECT_EQ(queue_.Items(), 0u);
  }

 private:
  uint64_t Pick(uint64_t n) { return random_() % n; }
  // Half of the keys are in one namespace.
  static ObjectKey Key(uint64_t n) {
    return {n % 2 == 0 ? "large" : StrCat("ns-", n % 3), std::to_string(n)};
  }

  void Step() {
    switch (Pick(11)) {
      case 0:
      case 1:
        Add(absl::ZeroDuration());
        break;
      case 2:
        Add(absl::Milliseconds(static_cast<int64_t>(Pick(50))));
        break;
      case 3:
      case 4:
        Take();
        break;
      case 5:
        if (!held_.empty()) Finish(Outcome::Next::kRetry);
        break;
      case 6:
        if (!held_.empty()) Finish(Outcome::Next::kNothing);
        break;
      case 7:
        if (!held_.empty()) Finish(Outcome::Next::kRequeueAfter);
        break;
      case 8:
        if (Pick(10) == 0) RetryNow();
        break;
      default:
        now_ += absl::Milliseconds(static_cast<int64_t>(Pick(20)));
        break;
    }
  }

  void Owe(Model& model, absl::Time ready_at, int priority) {
    if (!model.owed) {
      model.owed = true;
      model.ready_at = ready_at;
      model.priority = priority;
    } else {
      model.ready_at = std::min(model.ready_at, ready_at);
      model.priority = std::max(model.priority, priority);
    }
  }

  void Add(absl::Duration after) {
    const ObjectKey key = Key(Pick(12));
    const int priority = static_cast<int>(Pick(3)) * 10;
    const auto held = static_cast<size_t>(std::count_if(
        models_.begin(), models_.end(), [](const auto& entry) { return entry.second.held(); }));
    Model& model = models_[key];
    const bool fits = model.held() || held < kMaxItems;
    ASSERT_EQ(queue_.Add({key}, {.priority = priority, .after = after}, now_), fits);
    if (fits) Owe(model, now_ + after, priority);
  }

  void RetryNow() {
    queue_.RetryNow(now_);
    for (auto& [key, model] : models_) {
      if (model.owed && model.failures > 0 && model.not_before <= now_) {
        model.ready_at = std::min(model.ready_at, now_);
      }
    }
  }

  void Next() {
    Finish(Outcome::Next::kNothing);
    ++step_;
    NoteReady();
  }

  // ShutDown() drops the waiting items. A later Done() of an item that a worker holds has no
  // effect.
  void EndByShutDown() {
    queue_.ShutDown();
    EXPECT_TRUE(queue_.Add({Key(0)}, {}, now_));
    EXPECT_EQ(queue_.Get(now_), nullptr);
    for (const WorkItem* item : held_) {
      queue_.Done(*item, {Outcome::Next::kRetry, absl::Seconds(1)}, now_);
    }
    EXPECT_EQ(queue_.Items(), 0u);
    EXPECT_EQ(queue_.NextReady(), absl::InfiniteFuture());
  }

  void Take() {
    std::set<int, std::greater<>> priorities;
    size_t ready = 0;
    for (const auto& [key, model] : models_) {
      if (!IsReady(model) || IsHeld(key.ns)) continue;
      priorities.insert(model.priority);
      ++ready;
    }
    ASSERT_EQ(queue_.Len(now_), ready);
    const WorkItem* item = queue_.Get(now_);
    ASSERT_EQ(item != nullptr, ready > 0);
    if (item == nullptr) return;
    Model& model = models_[item->request().key];
    ASSERT_FALSE(model.processing) << "handed out twice";
    ASSERT_TRUE(model.owed);
    ASSERT_LE(model.ready_at, now_);
    // Each fourth choice is for a lower priority; these take turns.
    auto expected = priorities.begin();
    if (priorities.size() > 1 && ++choices_ % 4 == 0) {
      std::advance(expected, 1 + choices_ / 4 % (priorities.size() - 1));
    }
    ASSERT_EQ(item->priority(), *expected);
    ASSERT_EQ(item->priority(), model.priority);
    ASSERT_EQ(item->failures(), model.failures);
    CheckTurn(item->priority(), item->request().key);
    model.processing = true;
    model.owed = false;
    held_.push_back(item);
    NoteReady();
  }

  bool IsReady(const Model& model) const {
    return !model.processing && model.owed && model.ready_at <= now_;
  }
  // Whether as many requests of the namespace are processed as may be.
  bool IsHeld(const std::string& ns) const {
    return max_of_namespace_ > 0 && CountProcessed(ns) >= max_of_namespace_;
  }
  size_t CountProcessed(const std::string& ns) const {
    return static_cast<size_t>(std::ranges::count_if(models_, [&](const auto& entry) {
      return entry.second.processing && entry.first.ns == ns;
    }));
  }

  // Since which step each ready request has waited, and each namespace with one that is not held
  // has waited for its turn.
  void NoteReady() {
    std::map<Place, int> requests, turns;
    for (const auto& [key, model] : models_) {
      if (!IsReady(model)) continue;
      const auto keep = [&](std::map<Place, int>& now, const std::map<Place, int>& before,
                            const Place& place) {
        const auto known = before.find(place);
        now[place] = known == before.end() ? step_ : known->second;
      };
      keep(requests, requests_, {model.priority, key.ns, key.name});
      if (!IsHeld(key.ns)) keep(turns, turns_, {model.priority, key.ns, ""});
    }
    requests_ = std::move(requests);
    turns_ = std::move(turns);
  }

  void CheckTurn(int priority, const ObjectKey& key) {
    int& turn = turns_.at({priority, key.ns, ""});
    for (const auto& [place, since] : turns_) {
      if (std::get<0>(place) == priority) {
        ASSERT_GE(since, turn) << key.ns << " before " << std::get<1>(place);
      }
    }
    for (const auto& [place, since] : requests_) {
      if (std::get<0>(place) != priority || std::get<1>(place) != key.ns) continue;
      ASSERT_GE(since, requests_.at({priority, key.ns, key.name})) << key.name;
    }
    turn = step_;
  }

  void Finish(Outcome::Next next) {
    const size_t index = Pick(held_.size());
    const WorkItem* item = held_[index];
    held_.erase(held_.begin() + static_cast<std::ptrdiff_t>(index));
    Model& model = models_[item->request().key];
    Outcome outcome = {next, {}};
    if (next == Outcome::Next::kRetry) {
      if (Pick(4) == 0) outcome.after = absl::Milliseconds(static_cast<int64_t>(Pick(100)));
      if (now_ >= model.retry_at) {
        model.retry_at = now_ + absl::Milliseconds(5) * (1 << std::min(model.failures, 20));
        ++model.failures;
      }
      if (outcome.after > absl::ZeroDuration()) {
        model.not_before = now_ + outcome.after;
        model.retry_at = std::max(model.retry_at, model.not_before);
      }
      Owe(model, model.retry_at, item->priority());
    } else {
      model.failures = 0;
      model.retry_at = model.not_before = absl::InfinitePast();
    }
    if (next == Outcome::Next::kRequeueAfter) {
      outcome.after = absl::Milliseconds(static_cast<int64_t>(Pick(50)));
      Owe(model, now_ + outcome.after, item->priority());
    }
    model.processing = false;
    queue_.Done(*item, outcome, now_);
  }

  using Place = std::tuple<int, std::string, std::string>;  // priority, namespace, name
  static constexpr size_t kMaxItems = 10;                   // of 12 keys

  std::mt19937_64 random_;
  absl::Time now_ = absl::FromUnixSeconds(1000);
  const size_t max_of_namespace_;
  WorkQueue queue_{{.max_delay = absl::Hours(100),
                    .max_of_namespace = max_of_namespace_,
                    .max_items = kMaxItems}};
  std::map<ObjectKey, Model> models_;
  std::vector<const WorkItem*> held_;
  size_t choices_ = 0;  // of Take(), between several priorities
  int step_ = 0;
  std::map<Place, int> requests_, turns_;
};

TEST(WorkQueueFuzzTest, AgreesWithTheModel) {
  RunSeeds(200, [](uint64_t seed) { Fuzz(seed).Run(); });
}

// Two workers never have the same key, and a later round always sees what the last add announced.
TEST(WorkQueueFuzzTest, ManyThreads) {
  constexpr int kKeys = 40;
  constexpr int kRounds = 20'000;
  WorkQueue queue({});
  std::array<std::atomic<int>, kKeys> inside{}, written{}, seen{};
  std::atomic<bool> overlap = false, adding = true;
  const absl::Time now = absl::FromUnixSeconds(1000);

  const auto work = [&] {
    while (true) {
      const bool last = !adding;
      const WorkItem* item = queue.Get(now);
      if (item == nullptr) {
        if (last) return;
        std::this_thread::yield();
        continue;
      }
      const auto key = static_cast<size_t>(std::stoi(item->request().key.name));
      if (++inside[key] != 1) overlap = true;
      seen[key] = written[key].load();
      --inside[key];
      queue.Done(*item, {}, now);
    }
  };
  std::vector<std::thread> workers, producers;
  for (int i = 0; i < 3; ++i) workers.emplace_back(work);
  for (uint64_t i = 0; i < 2; ++i) {
    producers.emplace_back([&, i] {
      std::mt19937_64 random(i);
      for (int round = 0; round < kRounds; ++round) {
        const size_t key = random() % kKeys;
        ++written[key];
        queue.Add({{"", std::to_string(key)}}, {.priority = static_cast<int>(random() % 2)}, now);
      }
    });
  }
  for (std::thread& thread : producers) thread.join();
  adding = false;
  for (std::thread& thread : workers) thread.join();
  work();
  EXPECT_FALSE(overlap);
  for (size_t key = 0; key < kKeys; ++key) EXPECT_EQ(seen[key], written[key]) << key;
  EXPECT_EQ(queue.Items(), 0u);
}

}  // namespace
}  // namespace mandate
