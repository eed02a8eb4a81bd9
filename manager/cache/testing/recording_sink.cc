#include "manager/cache/testing/recording_sink.h"

#include <algorithm>

#include "manager/cache/testing/watch_json.h"
#include "manager/core/strings.h"

namespace mandate {
namespace {

// Another copy may have taken an object's place meanwhile (kind_store.h, Repack()).
bool IsCopy(const RawObject& a, const RawObject& b) {
  return SameVersion(a, b) && a.bytes() == b.bytes();
}

}  // namespace

void RecordingSink::Violation(const ObjectEvent& event, std::string_view what) {
  violations_.push_back(StrCat(Text(event), ": ", what));
}

void RecordingSink::OnEvent(const ObjectEvent& event) {
  StrAppend(&log_, log_.empty() ? "" : " ", Text(event));
  auto& slot = content_[event.object->Key()];
  if (event.initial && synced_) Violation(event, "initial after the first list");
  if (event.initial && event.type != ObjectEvent::Type::kAdd) Violation(event, "initial, no add");
  switch (event.type) {
    case ObjectEvent::Type::kAdd:
      if (slot != nullptr) Violation(event, "added twice");
      slot = event.object;
      break;
    case ObjectEvent::Type::kUpdate:
      if (slot == nullptr) {
        Violation(event, "updated, never added");
      } else if (!IsCopy(*slot, *event.old)) {
        Violation(event, "the old state is another than the last one told");
      } else if (slot->uid() != event.object->uid()) {
        Violation(event, "updated to another object");
      } else if (slot->resource_version() == event.object->resource_version()) {
        Violation(event, "told twice");
      }
      slot = event.object;
      break;
    case ObjectEvent::Type::kDelete:
      if (slot == nullptr) Violation(event, "deleted, never added");
      slot = nullptr;
      break;
  }
  if (slot == nullptr) content_.erase(event.object->Key());
  if (hook_) hook_();
}

void RecordingSink::OnPurged(const std::vector<std::shared_ptr<const RawObject>>& objects) {
  StrAppend(&log_, log_.empty() ? "" : " ", "purged:", objects.size());
  std::map<ObjectKey, std::shared_ptr<const RawObject>> purged;
  for (const auto& object : objects) purged[object->Key()] = object;
  const bool same = std::ranges::equal(purged, content_, [](const auto& a, const auto& b) {
    return a.first == b.first && IsCopy(*a.second, *b.second);
  });
  if (!same) violations_.push_back("the purged objects are not those of the events");
  content_.clear();
  if (hook_) hook_();
}

void RecordingSink::OnState(const DemandStatus& status) {
  StrAppend(&log_, log_.empty() ? "" : " ", ToString(status.state));
  status_ = status;
  if (status.state == DemandState::kSynced) synced_ = true;
  if (hook_) hook_();
}

std::string RecordingSink::Take() { return std::exchange(log_, ""); }

std::string RecordingSink::Content() const {
  std::vector<ObjectPtr> objects;
  for (const auto& [key, object] : content_) objects.push_back(object);
  return Text(objects);
}

}  // namespace mandate
