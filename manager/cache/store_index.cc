// The indexes of an ObjectStore.
#include <algorithm>
#include <exception>
#include <utility>

#include "manager/cache/store.h"
#include "manager/core/status_macros.h"
#include "manager/core/strings.h"

namespace mandate {
namespace {

constexpr size_t kExtractedAtOnce = 256;

absl::StatusOr<std::vector<std::string>> Extract(const IndexDefinition& definition,
                                                 const RawObject& object) {
  std::string what = "an exception of unknown type";
  try {
    return definition.extract(object);
  } catch (const std::exception& e) {
    what = e.what();
  } catch (...) {
  }
  return absl::InternalError(StrCat("the function of index ", definition.field, " threw: ", what));
}

}  // namespace

void ObjectStore::AddIndex(std::shared_ptr<const IndexDefinition> definition) {
  MutexLock lock(mutex_);
  const IndexDefinition* const address = definition.get();
  indexes_.try_emplace(address, Index{std::move(definition), FieldIndex()});
}

void ObjectStore::RemoveIndex(const IndexDefinition& definition) {
  MutexLock lock(mutex_);
  indexes_.erase(&definition);
}

void ObjectStore::Note(const std::vector<ObjectEvent>& changes) {
  for (auto& [address, index] : indexes_) {
    for (const ObjectEvent& change : changes) {
      if (change.type == ObjectEvent::Type::kDelete) {
        index.values.Remove(change.object);
        continue;
      }
      if (change.type == ObjectEvent::Type::kUpdate) index.values.Remove(change.old);
      index.values.Put(change.object);
    }
  }
}

absl::StatusOr<std::vector<ObjectPtr>> ObjectStore::ReadBy(const IndexDefinition& definition,
                                                           std::string_view value,
                                                           std::string_view ns) const {
  for (;;) {
    std::vector<ObjectPtr> unread;
    {
      MutexLock lock(mutex_);
      const auto found = indexes_.find(&definition);
      if (found == indexes_.end()) return absl::UnavailableError("the watch has been closed");
      FieldIndex& index = found->second.values;
      unread = index.TakeUnread(objects_, kExtractedAtOnce);
      if (unread.empty()) return index.Find(value, ns);
    }
    std::vector<absl::StatusOr<std::vector<std::string>>> values;
    values.reserve(unread.size());
    for (const ObjectPtr& object : unread) values.push_back(Extract(definition, *object));
    MutexLock lock(mutex_);
    const auto found = indexes_.find(&definition);
    if (found == indexes_.end()) continue;
    for (size_t i = 0; i < unread.size(); ++i) {
      found->second.values.Learn(unread[i], std::move(values[i]));
    }
  }
}

std::vector<ObjectPtr> ObjectStore::ListBy(const IndexDefinition& definition,
                                           std::string_view value, std::string_view ns) const {
  auto found = ReadBy(definition, value, ns);
  return found.ok() ? *std::move(found) : std::vector<ObjectPtr>();
}

}  // namespace mandate
