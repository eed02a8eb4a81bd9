#include "manager/cache/kind_store.h"

#include <algorithm>
#include <cstdint>
#include <string_view>
#include <utility>

namespace mandate {
namespace {

bool IsSecret(const KindInfo& kind) { return kind.group.empty() && kind.plural == "secrets"; }

ObjectPacker::Options NoPacking() { return {.min_object_bytes = SIZE_MAX}; }

bool IsOrderedVersion(std::string_view version) {
  return ParseResourceVersion(version).has_value();
}

// Whether it is what a change made of the object, and not another one.
bool IsSame(const ObjectPtr& changed, const RawObject& object) {
  return changed != nullptr && changed->ns() == object.ns() && changed->uid() == object.uid() &&
         SameVersion(*changed, object);
}

}  // namespace

KindStore::KindStore(const KindInfo& kind, Options options)
    : kind_(kind),
      transform_(std::move(options.transform)),
      packer_(IsSecret(kind) ? NoPacking() : options.packing),
      mutex_(std::make_shared<Mutex>()),
      none_closed_(options.max_closed_scopes, options.forgotten),
      on_stale_(std::move(options.on_stale)),
      repacked_(options.repacked) {}

std::unique_ptr<KindStore::Stream> KindStore::Open(const DemandSpec& scope, Listener& listener,
                                                   size_t most_events) {
  return std::unique_ptr<Stream>(new Stream(*this, Add(scope, listener, most_events)));
}

std::shared_ptr<KnownStore> KindStore::Add(DemandSpec scope, Listener& listener,
                                           size_t most_events) {
  auto known = std::make_shared<Known>(std::move(scope), std::make_shared<ObjectStore>(mutex_),
                                       &listener, most_events, none_closed_);
  known->history = history_;
  if (known->IsSelected()) {
    selected_.Add(*known);
  } else {
    watched_[{known->scope.ns, known->scope.name}] = known.get();
  }
  return known;
}

KindStore::Stream::~Stream() {
  kind_.Close(*known_);
  kind_.Forget(known_->scope);
}

void KindStore::Stream::Purge() {
  kind_.Close(*known_);
  known_ = kind_.Add(known_->scope, *known_->listener, known_->most_events);
  kind_.Forget(known_->scope);
}

void KindStore::Close(Known& known) {
  if (known.IsSelected()) {
    selected_.Remove(known);
  } else {
    watched_.erase({known.scope.ns, known.scope.name});
  }
  if (known.followed != nullptr) return known.Unfollow();  // the wider watch knows all that it knew
  if (!known.filled()) return;
  ForEachOverlapping(known, [&](Known& other) { other.NoteClosed(known); });
}

void KindStore::ForEachWatchedAt(std::string_view ns, std::string_view name,
                                 absl::FunctionRef<void(Known&)> found) const {
  const auto consider = [&](const Scope& scope) {
    const auto watched = watched_.find(scope);
    if (watched != watched_.end()) found(*watched->second);
  };
  consider({"", ""});
  consider({"", name});
  if (ns.empty()) return;
  consider({ns, ""});
  consider({ns, name});
}

void KindStore::ForEachConcerned(const Known& self, const RawObject& object,
                                 absl::FunctionRef<void(Known&, bool)> other) const {
  ForEachWatchedAt(object.ns(), object.name(), [&](Known& known) {
    if (known.KnowsWith(self)) other(known, true);
  });
  selected_.ForEach(object, [&](Known& known, bool matches) {
    if (known.KnowsWith(self)) other(known, matches);
  });
}

void KindStore::ForEachOverlapping(const Known& self, absl::FunctionRef<void(Known&)> other) const {
  const auto consider = [&](Known& known) {
    if (known.KnowsWith(self) && known.Overlaps(self)) other(known);
  };
  const std::string& ns = self.scope.ns;
  selected_.ForEachIn(ns, consider);
  const bool has_one_place = !ns.empty() || kind_.scope == mandate::Scope::kCluster;
  if (has_one_place && !self.scope.name.empty()) {
    return ForEachWatchedAt(ns, self.scope.name, consider);
  }
  if (ns.empty()) {
    for (const auto& [scope, known] : watched_) consider(*known);
    return;
  }
  for (const std::string_view of : {std::string_view(), std::string_view(ns)}) {
    for (auto it = watched_.lower_bound(Scope(of, ""));
         it != watched_.end() && it->first.first == of; ++it) {
      consider(*it->second);
    }
  }
}

void KindStore::Note(Known& known, const Events& events) {
  if (known.IsSelected()) selected_.Note(known, events);
}

void KindStore::Tell(Known& known, const Events& events) {
  if (events.empty()) return;
  Note(known, events);
  known.listener->OnObjects(events);
}

ObjectPtr KindStore::Stream::Pack(ObjectPtr object) {
  object = Trimmed(std::move(object));
  if (kind_.transform_ == nullptr && !kind_.packer_.IsLarge(*object)) return object;
  ObjectPtr held = store()->Get(object->ns(), object->name());
  if (held != nullptr && SameVersion(*held, *object)) return held;
  return kind_.packer_.Pack(kind_.Transformed(std::move(object)));
}

ObjectPtr KindStore::Transformed(ObjectPtr object) const {
  if (transform_ == nullptr) return object;
  ObjectPtr changed = transform_(kind_, object);
  return IsSame(changed, *object) && changed->name() == object->name() ? changed : object;
}

ObjectPtr KindStore::Trimmed(ObjectPtr object) const {
  if (kind_.trim == nullptr) return object;
  ObjectPtr part = kind_.trim(object);
  return IsSame(part, *object) ? part : object;
}

std::vector<ObjectEvent> KindStore::Stream::Put(ObjectPtr object) {
  const std::string_view version = object->resource_version();
  Changes putting, leaving;
  std::vector<ObjectPtr> left;  // what each of `leaving` has
  bool is_past = false;
  if (known_->filled() && !kind_.IsAlone(*known_) && IsOrderedVersion(version)) {
    const auto get = [&](const ObjectStore& in) { return in.Get(object->ns(), object->name()); };
    const auto is_older_than = [&](const ObjectPtr& held) {
      return held != nullptr && IsOlder(version, held->resource_version());
    };
    is_past = is_older_than(get(*store())) || known_->HasLeft(*object);
    kind_.ForEachConcerned(*known_, *object, [&](Known& other, bool covers) {
      ObjectPtr held = get(*other.store);
      const bool knows_later = IsAtMost(version, other.version());
      if (is_older_than(held) && !known_->Covers(*held)) known_->NoteLeft(*held);
      is_past =
          is_past || is_older_than(held) || (held == nullptr && knows_later && !other.IsSelected());
      // In a scope with a selector it may have lost its labels since.
      if (other.IsSelected() && (knows_later || other.HasLeft(*object))) return;
      if (covers) {
        putting.emplace_back(&other, Events());
      } else if (held != nullptr) {
        leaving.emplace_back(&other, Events());
        left.push_back(std::move(held));
      }
    });
  }
  Events events;
  // The store has what is known of the object since, if its scope has that.
  if (is_past) return events;
  {
    MutexLock lock(*kind_.mutex_);
    events = store()->PutLocked(object);
    for (auto& [other, changes] : putting) changes = other->store->PutLocked(object);
    for (size_t i = 0; i < leaving.size(); ++i) {
      leaving[i].first->NoteLeft(*object);
      leaving[i].second = leaving[i].first->store->RemoveLocked(left[i]);
    }
  }
  kind_.Note(*known_, events);
  for (const auto& [other, changes] : putting) kind_.Tell(*other, changes);
  for (const auto& [other, changes] : leaving) kind_.Tell(*other, changes);
  return events;
}

std::vector<ObjectEvent> KindStore::Stream::Remove(ObjectPtr object) {
  Changes others;
  if (known_->filled() && !kind_.IsAlone(*known_) && IsOrderedVersion(object->resource_version())) {
    kind_.ForEachConcerned(*known_, *object, [&](Known& other, bool) {
      if (known_->DecidesFor(other)) others.emplace_back(&other, Events());
    });
  }
  Events events;
  {
    MutexLock lock(*kind_.mutex_);
    events = store()->RemoveLocked(object);
    for (auto& [other, changes] : others) changes = other->store->RemoveLocked(object);
  }
  kind_.Note(*known_, events);
  for (const auto& [other, changes] : others) kind_.Tell(*other, changes);
  return events;
}

void KindStore::Stream::SetResourceVersion(std::string resource_version) {
  known_->MoveTo(resource_version);
  kind_.NoteReached(*known_);
  store()->SetResourceVersion(std::move(resource_version));
}

void KindStore::NoteReached(const Known& known) {
  if (known.history != history_) return;
  latest_ = std::max(latest_, ParseResourceVersion(known.own_version).value_or(0));
}

bool KindStore::Stream::CanFollow(const Stream& wider) const {
  const Known& other = *wider.known_;
  const bool newer = !known_->filled() || known_->history != other.history ||
                     IsAtMost(known_->own_version, other.own_version);
  return other.followed == nullptr && other.history == kind_.history_ &&
         IsOrderedVersion(other.own_version) && newer;
}

ReflectorTarget::Replaced KindStore::Stream::Follow(const Stream& wider) {
  Content content;
  for (const ObjectPtr& object : wider.store()->List(known_->scope.ns)) {
    if (known_->Covers(*object)) content.Put(object);
  }
  BeginRead(/*consistent=*/false);
  Replaced replaced = Replace(std::move(content), wider.known_->own_version, known_->most_events);
  known_->followed = wider.known_.get();
  store()->FollowVersionOf(wider.store());
  return replaced;
}

}  // namespace mandate
