// A list that has arrived, and what the other stores of the kind know since.
#include <algorithm>
#include <utility>

#include "manager/cache/kind_store.h"

namespace mandate {

std::map<KnownStore*, KindStore::Events> KindStore::Merge(Known& self, const std::string& version,
                                                          Content& content) const {
  std::map<Known*, Events> changes;
  MergeListed(self, content, changes);
  MergeOthers(self, version, content, changes);
  return changes;
}

void KindStore::MergeListed(Known& self, Content& content,
                            std::map<Known*, Events>& changes) const {
  std::vector<ObjectPtr> gone;
  std::vector<std::pair<Known*, ObjectPtr>> others;  // and what each has
  for (const ObjectSlot& slot : content.objects) {
    const ObjectPtr listed = slot.object;
    if (!ParseResourceVersion(listed->resource_version())) continue;
    others.clear();
    bool is_gone = self.HasLeft(*listed);
    ObjectPtr newest = listed;
    // Another watch may have put a newer version here.
    const ObjectPtr own = self.store->Get(listed->ns(), listed->name());
    if (own != nullptr && IsAtMost(listed->resource_version(), own->resource_version())) {
      newest = own;
    }
    ForEachConcerned(self, *listed, [&](Known& other, bool) {
      ObjectPtr held = other.store->Get(listed->ns(), listed->name());
      is_gone = is_gone || (held == nullptr && !other.IsSelected() &&
                            IsAtMost(listed->resource_version(), other.version()));
      if (held != nullptr && IsAtMost(newest->resource_version(), held->resource_version())) {
        newest = held;
      }
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
      const bool knows_better =
          other->IsSelected() && IsAtMost(newest->resource_version(), other->version());
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

void KindStore::MergeOthers(const Known& self, const std::string& version, Content& content,
                            std::map<Known*, Events>& changes) const {
  std::vector<ObjectPtr> newer;
  for (const ObjectPtr& held : self.store->List()) {
    if (IsOlder(version, held->resource_version())) newer.push_back(held);
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

ReflectorTarget::Replaced KindStore::Stream::Replace(Content content, std::string resource_version,
                                                     size_t most_events) {
  if (kind_.IsAlone(*known_)) {
    known_->MoveTo(resource_version);
    Replaced replaced =
        store()->Replace(std::move(content), std::move(resource_version), most_events);
    kind_.CheckStale();
    return replaced;
  }
  const std::map<Known*, Events> changes = kind_.Merge(*known_, resource_version, content);
  // Until here the stores that follow this one have its former version.
  known_->MoveTo(resource_version);
  std::map<Known*, std::shared_ptr<const ObjectSet>> before;
  for (const auto& [other, events] : changes) {
    if (events.size() > other->most_events) before[other] = other->store->Snapshot();
  }
  const auto change_others = [&]() ABSL_NO_THREAD_SAFETY_ANALYSIS {
    for (const auto& [other, events] : changes) {
      for (const ObjectEvent& event : events) {
        if (event.type == ObjectEvent::Type::kDelete) {
          other->store->RemoveLocked(event.object);
        } else {
          other->store->PutLocked(event.object);
        }
      }
    }
  };
  const std::shared_ptr<const ObjectSet> own = known_->IsSelected() ? store()->Snapshot() : nullptr;
  Replaced replaced = store()->ReplaceWithUpdate(std::move(content), std::move(resource_version),
                                                 most_events, change_others);
  if (own != nullptr) kind_.selected_.NoteReplaced(*known_, *own);
  for (const auto& [other, events] : changes) {
    if (const auto many = before.find(other); many != before.end()) {
      kind_.Note(*other, events);
      other->listener->OnReplaced(many->second);
    } else {
      kind_.Tell(*other, events);
    }
  }
  kind_.CheckStale();  // the list may have been packed before a dictionary was dropped
  return replaced;
}

}  // namespace mandate
