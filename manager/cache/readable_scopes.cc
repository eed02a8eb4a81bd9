#include "manager/cache/readable_scopes.h"

#include <algorithm>
#include <string>
#include <utility>

#include "manager/core/strings.h"

namespace mandate {
namespace {

DemandSpec Widest(const KindInfo& kind) { return {kind, "", ""}; }

std::shared_ptr<const IndexDefinition> Named(const ReadableScope::Indexes& indexes,
                                             std::string_view field) {
  for (const auto& index : indexes) {
    if (index->field == field) return index;
  }
  return nullptr;
}

}  // namespace

absl::Status ReadableScopes::AddIndex(IndexDefinition definition) {
  const DemandSpec widest = Widest(definition.kind);
  const std::string name = StrCat("index ", definition.field, " of ", widest.ToString());
  MutexLock lock(mutex_);
  for (const auto& [spec, scope] : scopes_) {
    if (spec.kind == definition.kind && !scope.expired()) {
      return absl::FailedPreconditionError(
          StrCat("the ", name, " must be declared before the first demand of the kind"));
    }
  }
  ReadableScope::Indexes& indexes = indexes_[widest];
  if (Named(indexes, definition.field) != nullptr) {
    return absl::AlreadyExistsError(StrCat("the ", name, " is declared twice"));
  }
  indexes.push_back(std::make_shared<const IndexDefinition>(std::move(definition)));
  return absl::OkStatus();
}

std::shared_ptr<const IndexDefinition> ReadableScopes::FindIndex(const KindInfo& kind,
                                                                 std::string_view field) const {
  MutexLock lock(mutex_);
  const auto it = indexes_.find(Widest(kind));
  return it == indexes_.end() ? nullptr : Named(it->second, field);
}

std::shared_ptr<ReadableScope> ReadableScopes::Acquire(const DemandSpec& spec) {
  MutexLock lock(mutex_);
  if (scopes_.size() >= sweep_at_) {
    std::erase_if(scopes_, [](const auto& entry) { return entry.second.expired(); });
    sweep_at_ = std::max<size_t>(64, 2 * scopes_.size());
  }
  std::weak_ptr<ReadableScope>& entry = scopes_[spec];
  auto scope = entry.lock();
  if (scope == nullptr) {
    const auto indexes = indexes_.find(Widest(spec.kind));
    entry = scope = std::make_shared<ReadableScope>(
        spec, indexes == indexes_.end() ? ReadableScope::Indexes() : indexes->second);
  }
  scope->Add();
  return scope;
}

std::vector<std::shared_ptr<ReadableScope>> ReadableScopes::Find(
    const std::vector<DemandSpec>& specs) const {
  std::vector<std::shared_ptr<ReadableScope>> found;
  MutexLock lock(mutex_);
  for (const DemandSpec& spec : specs) {
    const auto it = scopes_.find(spec);
    auto scope = it == scopes_.end() ? nullptr : it->second.lock();
    if (scope != nullptr && scope->demands() > 0) found.push_back(std::move(scope));
  }
  return found;
}

std::vector<std::shared_ptr<ReadableScope>> ReadableScopes::FindSelected(
    const KindInfo& kind, std::string_view ns) const {
  std::vector<std::shared_ptr<ReadableScope>> found;
  MutexLock lock(mutex_);
  const DemandSpec all = {kind, std::string(ns), ""};
  for (auto it = scopes_.upper_bound(all); it != scopes_.end() && it->first.kind == kind &&
                                           it->first.ns == ns && it->first.name.empty();
       ++it) {
    auto scope = it->second.lock();
    if (scope != nullptr && scope->demands() > 0) found.push_back(std::move(scope));
  }
  return found;
}

size_t ReadableScopes::size() const {
  MutexLock lock(mutex_);
  return scopes_.size();
}

}  // namespace mandate
