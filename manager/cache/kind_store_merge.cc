// A list that has arrived, and what the other stores of the kind know since.
#include <algorithm>
#include <utility>

#include "manager/cache/kind_store.h"

namespace mandate {

void KindStore::Stream::BeginRead(bool consistent) {
  known_->asked_in = kind_.history_;
  known_->asked_for = consistent ? kind_.latest_ : 0;
}

bool KindStore::EnterHistory(Known& known, const std::string& version) {
  const auto reached = ParseResourceVersion(version);
  const bool is_new = known.asked_in == history_ && reached && *reached < known.asked_for;
  if (is_new) {
    ++history_;
    latest_ = 0;
  }
  if (known.history != history_) {
    known.history = history_;
    known.ForgetUpTo(UINT64_MAX);
  } else if (reached) {
    known.ForgetUpTo(*reached);
  }
  return is_new;
}

std::map<KnownStore*, KindStore::Events> KindStore::Merge(Known& self, const Listed& listed) const {
  std::map<Known*, Events> changes;
  MergeListed(self, listed, changes);
  MergeOthers(self, listed, changes);
  if (listed.is_first) MergeFollowers(self, listed.content, changes);
  return changes;
}

void KindStore::MergeListed(Known& self, const Listed& list,
                            std::map<Known*, Events>& changes) const {
  Content& content = list.content;
  // A store knows more than the list only about later versions.
  const auto is_later = [&](std::string_view version) { return IsOlder(list.version, version); };
  std::vector<ObjectPtr> gone;
  std::vector<std::pair<Known*, ObjectPtr>> others;  // and what each has
  for (const ObjectSlot& slot : content.objects) {
    const ObjectPtr listed = slot.object;
    if (!ParseResourceVersion(listed->resource_version())) continue;
    others.clear();
    bool is_gone = self.HasLeft(*listed);
    ObjectPtr newest = listed;
    const auto consider = [&](const ObjectPtr& held) {
      if (held == nullptr) return;
      const bool is_newer = IsOlder(newest->resource_version(), held->resource_version()) &&
                            is_later(held->resource_version());
      // Or it is the same: then the copy that is held stays.
      if (is_newer || newest->resource_version() == held->resource_version()) newest = held;
    };
    // Another watch may have put a newer version here.
    if (!list.is_first) consider(self.store->Get(listed->ns(), listed->name()));
    ForEachConcerned(self, *listed, [&](Known& other, bool) {
      ObjectPtr held = other.store->Get(listed->ns(), listed->name());
      is_gone = is_gone || (held == nullptr && !other.IsSelected() && is_later(other.version()) &&
                            IsAtMost(listed->resource_version(), other.version()));
      consider(held);
      others.emplace_back(&other, std::move(held));
    });
    // A newer version may have left this scope.
    const bool has_left = newest != listed && !self.Covers(*newest);
    if (has_left) self.NoteLeft(*newest);
    if (is_gone || has_left) {
      gone.push_back(listed);
      continue;
    }
    if (newest != listed) {
      content.bytes.Add(*newest);
      content.bytes.Subtract(*listed);
      slot.object = newest;
    }
    for (const auto& [other, held] : others) {
      const bool knows_better = other->IsSelected() && is_later(other->version()) &&
                                IsAtMost(newest->resource_version(), other->version());
      if (knows_better || held == newest || other->HasLeft(*newest)) continue;
      const ObjectPtr now = other->Covers(*newest) ? newest : nullptr;
      if (held != nullptr && now == nullptr) other->NoteLeft(*newest);
      if (held != nullptr || now != nullptr) AppendChange(held, now, changes[other]);
    }
  }
  for (const ObjectPtr& object : gone) {
    content.bytes.Subtract(*object);
    content.objects.erase(object);
  }
}

void KindStore::MergeOthers(const Known& self, const Listed& listed,
                            std::map<Known*, Events>& changes) const {
  const auto& [content, version, is_first] = listed;
  std::vector<ObjectPtr> newer;
  if (!is_first) {
    for (const ObjectPtr& held : self.store->List()) {
      if (IsOlder(version, held->resource_version())) newer.push_back(held);
    }
  }
  ForEachOverlapping(self, [&](Known& other) {
    for (const ObjectPtr& held : other.store->List(self.scope.ns)) {
      if (content.objects.contains(held) || !self.Covers(*held)) continue;
      if (IsOlder(version, held->resource_version())) {
        newer.push_back(held);  // created after the list
      } else if (self.DecidesFor(other) && IsAtMost(held->resource_version(), version)) {
        AppendChange(held, nullptr, changes[&other]);  // deleted before it
      }
    }
  });
  for (const ObjectPtr& object : newer) {
    if (!content.objects.contains(object)) content.Put(object);
  }
}

void KindStore::MergeFollowers(const Known& self, const Content& content,
                               std::map<Known*, Events>& changes) const {
  const auto adapt = [&](Known& known) {
    if (known.followed != &self) return;
    known.history = self.history;
    known.ForgetUpTo(UINT64_MAX);
    for (const ObjectPtr& held : known.store->List()) {
      const auto now = content.objects.find(held);
      const bool stays = now != content.objects.end() && known.Covers(*now->object);
      if (!stays) AppendChange(held, nullptr, changes[&known]);
    }
    for (const ObjectSlot& slot : content.objects) {
      if (!known.Covers(*slot.object)) continue;
      const ObjectPtr held = known.store->Get(slot.object->ns(), slot.object->name());
      AppendChange(held, slot.object, changes[&known]);
      if (held == nullptr || !SameVersion(*held, *slot.object)) continue;
      MutexLock lock(*mutex_);
      known.store->SwapLocked(held, slot.object);
    }
  };
  for (const auto& [scope, known] : watched_) adapt(*known);
  selected_.ForEachIn("", adapt);
}

ReflectorTarget::Replaced KindStore::Stream::Replace(Content content, std::string resource_version,
                                                     size_t most_events) {
  const int before_history = known_->history;
  const bool is_restored = kind_.EnterHistory(*known_, resource_version);
  const bool is_first = known_->history != before_history;
  if (kind_.IsAlone(*known_)) {
    known_->MoveTo(resource_version);
    kind_.NoteReached(*known_);
    Replaced replaced = store()->ReplaceWithUpdate(std::move(content), std::move(resource_version),
                                                   most_events, !is_first, [] {});
    replaced.is_restored = is_restored;
    kind_.CheckStale();
    return replaced;
  }
  const std::map<Known*, Events> changes =
      kind_.Merge(*known_, {content, resource_version, is_first});
  // Until here the stores that follow this one have its former version.
  known_->MoveTo(resource_version);
  kind_.NoteReached(*known_);
  std::map<Known*, std::shared_ptr<const ObjectSet>> before;
  for (const auto& [other, events] : changes) {
    if (events.size() > other->most_events) before[other] = other->store->Snapshot();
  }
  const auto change_others = [&]() ABSL_NO_THREAD_SAFETY_ANALYSIS {
    for (const auto& [other, events] : changes) {
      for (const ObjectEvent& event : events) {
        if (event.type == ObjectEvent::Type::kDelete) {
          other->store->RemoveLocked(event.object);
          continue;
        }
        // In another history the object may be older than the copy that the store has.
        if (event.type == ObjectEvent::Type::kUpdate) other->store->RemoveLocked(event.old);
        other->store->PutLocked(event.object);
      }
    }
  };
  const std::shared_ptr<const ObjectSet> own = known_->IsSelected() ? store()->Snapshot() : nullptr;
  Replaced replaced = store()->ReplaceWithUpdate(std::move(content), std::move(resource_version),
                                                 most_events, !is_first, change_others);
  if (own != nullptr) kind_.selected_.NoteReplaced(*known_, *own);
  for (const auto& [other, events] : changes) {
    if (const auto many = before.find(other); many != before.end()) {
      kind_.Note(*other, events);
      other->listener->OnReplaced(many->second);
    } else {
      kind_.Tell(*other, events);
    }
  }
  replaced.is_restored = is_restored;
  kind_.CheckStale();  // the list may have been packed before a dictionary was dropped
  return replaced;
}

}  // namespace mandate
