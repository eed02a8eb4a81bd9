#include "manager/cache/testing/model/model_sink.h"

#include <utility>

#include "manager/core/strings.h"

namespace mandate::model {
namespace {

using Type = ObjectEvent::Type;

}  // namespace

std::string EventText(Type type, const ObjectKey& key, int version) {
  if (type == Type::kDelete) return StrCat("-", key.ToString());
  return StrCat(type == Type::kAdd ? "+" : "~", key.ToString(), "@", version);
}

template <class... Parts>
void ModelSink::Violation(std::string_view invariant, const ObjectEvent& event,
                          const Parts&... parts) {
  config_.violations.Add(invariant, config_.who, " received ",
                         EventText(event.type, event.object->Key(), VersionOf(*event.object)), ": ",
                         parts...);
}

void ModelSink::Check(const ObjectEvent& event, const Last& last) {
  const ObjectKey key = event.object->Key();
  const int version = VersionOf(*event.object);
  if (!config_.scope.Covers(key)) Violation("I3", event, "outside of its scope");
  if (!config_.may_see()) Violation("I7", event, "its access is denied");
  if (frozen_) Violation("I5", event, "it is paused");
  if (event.initial && (synced_once_ || event.type != Type::kAdd)) {
    Violation("I5", event, "initial, but not an add of the first list");
  }
  if (event.type != Type::kDelete &&
      !Selects(config_.scope.selector, event.object->Header().labels)) {
    Violation("I3", event, "its selector does not match");
  }
  if (event.type == Type::kDelete) {
    if (!last.exists) Violation("I5", event, "it does not have the object");
    if (last.exists && last.uid != event.object->uid()) Violation("I4", event, "another UID");
    return;
  }
  const ObjectHistory::State* const state = config_.history.At(key, version);
  if (state == nullptr || state->uid != event.object->uid() ||
      state->labels != event.object->Header().labels) {
    Violation("I3", event, "the server never had this state");
  }
  // After a purge the object may come again as it was.
  if (version < last.version || (version == last.version && !last.purged)) {
    Violation(version == last.version ? "I5" : "I4", event, "after version ", last.version);
  }
  if (event.type == Type::kAdd) {
    if (last.exists) Violation("I5", event, "it has the object");
    return;
  }
  if (!last.exists) Violation("I5", event, "it does not have the object");
  if (last.exists && last.uid != event.object->uid()) {
    Violation("I4", event, "another UID without a deletion");
  }
  if (event.old == nullptr || VersionOf(*event.old) != last.version) {
    Violation("I5", event, "the old state is not the last one, ", last.version);
  }
}

void ModelSink::OnEvent(const ObjectEvent& event) {
  const ObjectKey key = event.object->Key();
  Last& last = last_[key];
  Check(event, last);
  const int version = VersionOf(*event.object);
  StrAppend(&events_[key], " ", EventText(event.type, key, version));
  if (event.type == Type::kDelete) {
    content_.erase(key);
    labels_.erase(key);
    last.exists = last.purged = false;
  } else {
    content_[key] = version;
    labels_[key] = event.object->Header().labels;
    last = {version, std::string(event.object->uid()), /*exists=*/true, /*purged=*/false};
  }
  config_.on_event(&event);
}

void ModelSink::OnPurged(const std::vector<std::shared_ptr<const RawObject>>& objects) {
  Content purged;
  for (const auto& object : objects) purged[object->Key()] = VersionOf(*object);
  if (purged != content_) {
    config_.violations.Add("I5", config_.who, " is purged of ", ToString(purged), ", and received ",
                           ToString(content_));
  }
  for (auto& [key, last] : last_) {
    last.purged = last.purged || last.exists;
    last.exists = false;
  }
  content_.clear();
  labels_.clear();
  config_.on_event(nullptr);
}

void ModelSink::OnState(const DemandStatus& status) {
  if (status.EqualsIgnoringText(status_) && status_.state != DemandState::kPending) {
    config_.violations.Add("I5", config_.who, " was reported twice to be ", ToString(status.state));
  }
  ++reports_;
  status_ = status;
  synced_once_ = synced_once_ || status.state == DemandState::kSynced;
  if (status.state != DemandState::kForbidden) return;
  if (!config_.is_denied()) {
    config_.violations.Add("I7", config_.who,
                           " is forbidden, but was not denied: ", AsStd(status.reason.message()));
  }
  if (!content_.empty()) {
    config_.violations.Add("I7", config_.who, " is forbidden, and still has ", ToString(content_));
  }
}

}  // namespace mandate::model
