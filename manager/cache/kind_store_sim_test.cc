// Watches of random scopes and selectors follow one history at different speeds: they are opened,
// list, lag behind, list again, are purged, are kept by wider ones, and are closed.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "manager/cache/kind_store.h"
#include "manager/cache/testing/watch_json.h"

namespace mandate {
namespace {

class KindStoreSimulation : public testing::Test {
 protected:
  struct Change {
    std::string key;
    ObjectPtr object;  // its state at this version; of a deletion its last state
    bool deleted = false;
  };
  // One watch, and its events applied to a copy.
  struct Watch : KindStore::Listener {
    void Apply(const std::vector<ObjectEvent>& events) {
      for (const ObjectEvent& event : events) {
        const std::string key = event.object->Key().ToString();
        const auto held = copy.find(key);
        if (event.type == ObjectEvent::Type::kDelete) {
          ASSERT_NE(held, copy.end()) << "an object that is not there is deleted: " << key;
          copy.erase(held);
          continue;
        }
        ASSERT_EQ(event.type == ObjectEvent::Type::kAdd, held == copy.end()) << key;
        const auto version = std::string(event.object->resource_version());
        const bool is_new = held == copy.end() || held->second != version;
        ASSERT_TRUE(is_new) << "the same event twice: " << key;
        copy[key] = version;
      }
    }
    void OnObjects(const std::vector<ObjectEvent>& events) override { Apply(events); }
    void OnReplaced(const std::shared_ptr<const ObjectSet>&) override { replaced = true; }
    bool HasInScope(const ObjectKey& key) const {
      return (scope.ns.empty() || scope.ns == key.ns) &&
             (scope.name.empty() || scope.name == key.name);
    }
    // Null: an object with these labels is not in this scope.
    ObjectPtr Filter(const ObjectPtr& object) const {
      if (object == nullptr || !HasInScope(object->Key())) return nullptr;
      if (scope.labels.empty()) return object;
      const bool matches = LabelSelector::Parse(scope.labels)->Matches(object->Header().labels);
      return matches ? object : nullptr;
    }
    bool IsWiderThan(const Watch& other) const {
      const auto wider = [](const std::string& a, const std::string& b) {
        return a.empty() || a == b;
      };
      return this != &other && wider(scope.ns, other.scope.ns) &&
             wider(scope.name, other.scope.name) && wider(scope.labels, other.scope.labels);
    }
    size_t version() const { return kept_by == nullptr ? at : kept_by->version(); }
    void Tell(size_t version) { stream->SetResourceVersion(std::to_string(told = version)); }
    void Unfollow() {
      stream->Unfollow();
      ASSERT_EQ(stream->store()->resource_version(), std::to_string(kept_by->told));
      told = kept_by->told;
      at = version();
      kept_by = nullptr;
    }

    DemandSpec scope;
    std::unique_ptr<KindStore::Stream> stream;
    size_t at = 0;                       // the version; 0: not filled
    size_t told = 0;                     // the version that the stream knows; at most `at`
    Watch* kept_by = nullptr;            // another watch keeps this one's store
    std::map<std::string, size_t> last;  // the version of each object that was seen
    bool replaced = false;
    bool is_past = false;  // it knows what was before the last restoration
    std::map<std::string, std::string> copy;
  };

  size_t Pick(size_t n) { return std::uniform_int_distribution<size_t>(0, n - 1)(dice_); }

  void Write() {
    const std::string key = std::string(Pick(2) == 0 ? "a/" : "b/") + (Pick(2) == 0 ? "x" : "y");
    const int version = static_cast<int>(history_.size()) + 1;
    const ObjectPtr now = StateAt(history_.size(), key);
    if (now != nullptr && Pick(3) == 0) {
      // The DELETED event has the last state with the version of the deletion.
      const auto labels = now->Header().labels;
      const std::string label = labels.empty() ? "" : "l=" + labels.at("l");
      history_.push_back({key, Widget(key, version, std::string(now->uid()), label), true});
      return;
    }
    const std::string uid =
        now != nullptr ? std::string(now->uid()) : "u" + std::to_string(version);
    const std::string label = std::vector<std::string>{"", "l=p", "l=q"}[Pick(3)];
    history_.push_back({key, Widget(key, version, uid, label), false});
  }
  ObjectPtr StateAt(size_t version, const std::string& key) const {
    for (size_t i = version; i > 0; --i) {
      if (history_[i - 1].key == key)
        return history_[i - 1].deleted ? nullptr : history_[i - 1].object;
    }
    return nullptr;
  }
  void ListAt(Watch& watch, size_t version) {
    std::vector<ObjectPtr> objects;
    for (const char* key : kKeys) {
      const ObjectPtr state = watch.Filter(StateAt(version, key));
      // Another copy of the same bytes, as a response has.
      if (state != nullptr) {
        objects.push_back(*ParseRawObject(state->bytes(), Encoding::kJson));
      }
    }
    watch.at = watch.told = version;
    watch.is_past = false;
    for (const auto& other : watches_) {
      if (other->kept_by == &watch) other->is_past = false;
    }
    watch.Apply(watch.stream->Replace(ContentOf(objects), std::to_string(version), 1000).events);
  }
  void Open() {
    auto watch = std::make_unique<Watch>();
    const size_t scope = Pick(4);
    watch->scope.kind = kWidget;
    watch->scope.ns = scope == 0 ? "" : Pick(2) == 0 ? "a" : "b";
    watch->scope.name = scope < 2 ? "" : Pick(2) == 0 ? "x" : "y";
    if (watch->scope.name.empty() && Pick(2) == 0) {
      watch->scope.labels = std::vector<std::string>{"l=p", "l in (p,q)", "!l"}[Pick(3)];
    }
    for (const auto& other : watches_) {
      if (other->scope == watch->scope) return;
    }
    watch->stream = kind_->Open(watch->scope, *watch, 1000);
    watches_.push_back(std::move(watch));
  }
  void UnfollowAllOf(const Watch& watch) {
    for (const auto& other : watches_) {
      if (other->kept_by == &watch) other->Unfollow();
    }
  }
  // The events that the server sends of one change.
  void Deliver(Watch& watch) {
    const Change& change = history_[watch.at];
    const ObjectPtr before = watch.Filter(StateAt(watch.at, change.key));
    ++watch.at;
    const ObjectPtr now = change.deleted ? nullptr : watch.Filter(change.object);
    if (now != nullptr) {
      watch.Apply(watch.stream->Put(*ParseRawObject(now->bytes(), Encoding::kJson)));
    } else if (before != nullptr) {
      // The last state in this scope, with the version of the change.
      const auto labels = before->Header().labels;
      watch.Apply(watch.stream->Remove(Widget(change.key, static_cast<int>(watch.at), before->uid(),
                                              labels.empty() ? "" : "l=" + labels.at("l"))));
    } else {
      return;
    }
    watch.Tell(watch.at);
  }
  void Step() {
    if (restores_ && Pick(40) == 0) {
      return Restore();
    }
    if (Pick(2) == 0) Write();
    if (history_.empty()) return;
    const size_t action = Pick(10);
    if (action == 0 && watches_.size() < 8) return Open();
    if (watches_.empty()) return;
    const size_t which = Pick(watches_.size());
    Watch& watch = *watches_[which];
    if (action == 1) {
      UnfollowAllOf(watch);
      const std::weak_ptr<const ObjectStore> store = watch.stream->store();
      watches_.erase(watches_.begin() + static_cast<std::ptrdiff_t>(which));
      ASSERT_TRUE(store.expired());
    } else if (watch.kept_by != nullptr) {
      if (action == 2) watch.Unfollow();
    } else if (watch.is_past) {
      // Its own watch brings nothing.
      if (action <= 3) ReadAgain(watch);
    } else if (action == 2 && Pick(2) == 0) {
      Watch& wider = *watches_[Pick(watches_.size())];
      if (!wider.IsWiderThan(watch) || !watch.stream->CanFollow(*wider.stream)) return;
      UnfollowAllOf(watch);
      watch.Apply(watch.stream->Follow(*wider.stream).events);
      watch.kept_by = &wider;
    } else if (action <= 3 || watch.at == 0) {
      // A watch that was not filled lists the newest state. Later the server may be one that lags
      // behind, but not behind what the watch knew.
      if (watch.at == 0) return ReadAgain(watch);
      watch.stream->BeginRead(/*consistent=*/false);
      ListAt(watch, watch.at + Pick(history_.size() - watch.at + 1));
    } else if (action == 4 && Pick(3) == 0) {
      UnfollowAllOf(watch);
      watch.stream->Purge();
      watch.at = watch.told = 0;
      watch.copy.clear();
      watch.last.clear();
    } else {
      for (size_t i = Pick(4); i > 0 && watch.at < history_.size(); --i) Deliver(watch);
      if (Pick(2) == 0) watch.Tell(watch.at);  // a bookmark
    }
  }
  // The server goes back to an earlier version. Some watch knows a later one.
  void Restore() {
    size_t newest = 0;
    for (const auto& watch : watches_) newest = std::max(newest, watch->is_past ? 0 : watch->told);
    if (newest < 2) return;
    history_.resize(Pick(newest - 1) + 1);
    for (const auto& watch : watches_) {
      watch->is_past = watch->version() > 0;
      watch->last.clear();
    }
    last_.clear();
    // Before the server has passed the version that it had, some watch reads its state.
    const auto own = [](const auto& watch) { return watch->kept_by == nullptr; };
    ReadAgain(**std::ranges::find_if(watches_, own));
  }
  void ReadAgain(Watch& watch) {
    watch.stream->BeginRead(/*consistent=*/true);
    ListAt(watch, history_.size());
  }
  // What the stores say about an object, and that they agree.
  void Check() {
    for (const char* key : kKeys) {
      const ObjectKey at = {std::string(1, key[0]), key + 2};
      std::optional<ObjectPtr> seen;
      size_t newest = 0;
      for (const auto& watch : watches_) {
        if (watch->version() == 0 || !watch->HasInScope(at)) continue;
        const ObjectPtr held = watch->stream->store()->Get(at.ns, at.name);
        const auto copied = watch->copy.find(key);
        ASSERT_EQ(copied == watch->copy.end(), held == nullptr) << key;
        if (held != nullptr) {
          ASSERT_EQ(copied->second, held->resource_version());
        }
        if (watch->is_past) continue;
        CheckSelected(*watch, key, held);
        if (!watch->scope.labels.empty()) continue;
        if (seen.has_value()) {
          ASSERT_EQ(held == nullptr, *seen == nullptr) << key;
          ASSERT_EQ(held, *seen) << "two copies of " << key;
        }
        seen = held;
        newest = std::max(newest, watch->version());
      }
      for (const auto& watch : watches_) {
        if (watch->version() == 0 || watch->is_past || !watch->HasInScope(at) ||
            watch->scope.labels.empty()) {
          continue;
        }
        const ObjectPtr held = watch->stream->store()->Get(at.ns, at.name);
        if (held != nullptr && seen.has_value()) {
          ASSERT_EQ(held, *seen) << key << " in " << watch->scope.ToString();
        }
        if (held == nullptr && seen.has_value() && watch->Filter(*seen) != nullptr) {
          ASSERT_GE(watch->version(), std::stoul(std::string((*seen)->resource_version())))
              << key << " is not in " << watch->scope.ToString();
        }
      }
      if (!seen.has_value()) {
        last_.erase(key);
        continue;
      }
      // The state is that of some version at or after the one seen before, and no older than the
      // newest watch.
      const size_t before = last_.contains(key) ? last_[key] : 0;
      size_t version = std::max(before, newest);
      while (version <= history_.size() && !SameState(StateAt(version, key), *seen)) ++version;
      ASSERT_LE(version, history_.size())
          << key << " went back to " << (*seen == nullptr ? "absent" : (*seen)->resource_version());
      last_[key] = version;
    }
  }
  // The same for what one store says of its own scope.
  void CheckSelected(Watch& watch, const char* key, const ObjectPtr& held) {
    size_t version = std::max(watch.last[key], watch.version());
    while (version <= history_.size() && !SameState(watch.Filter(StateAt(version, key)), held)) {
      ++version;
    }
    ASSERT_LE(version, history_.size()) << key << " went back in " << watch.scope.ToString();
    watch.last[key] = version;
  }
  static bool SameState(const ObjectPtr& a, const ObjectPtr& b) {
    if (a == nullptr || b == nullptr) return a == b;
    return a->resource_version() == b->resource_version();
  }

  static constexpr const char* kKeys[] = {"a/x", "a/y", "b/x", "b/y"};
  void Run(int seeds) {
    for (int seed = 0; seed < seeds; ++seed) {
      SCOPED_TRACE(seed);
      dice_.seed(seed);
      history_.clear();
      for (const auto& watch : watches_) {
        if (watch->kept_by != nullptr) watch->Unfollow();
      }
      watches_.clear();
      kind_.emplace(kWidget);
      last_.clear();
      for (int step = 0; step < 150; ++step) {
        Step();
        Check();
        if (testing::Test::HasFatalFailure()) return;
      }
    }
  }

  bool restores_ = false;
  std::mt19937_64 dice_;
  std::vector<Change> history_;
  std::optional<KindStore> kind_;
  std::vector<std::unique_ptr<Watch>> watches_;
  std::map<std::string, size_t> last_;
};

TEST_F(KindStoreSimulation, NoReaderSeesAnObjectGoBack) { Run(2000); }

// Only watches that have read the state since the last restoration are compared.
TEST_F(KindStoreSimulation, WhatWasBeforeARestorationStaysApart) {
  restores_ = true;
  Run(2000);
}

}  // namespace
}  // namespace mandate
