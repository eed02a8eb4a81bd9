#include "manager/cache/read_grants.h"

#include <algorithm>
#include <string>
#include <utility>

#include "manager/core/strings.h"

namespace mandate {
namespace {

DemandSpec Widest(const KindInfo& kind) { return {kind, "", ""}; }

std::shared_ptr<const IndexDefinition> Named(const ReadGrant::Indexes& indexes,
                                             std::string_view field) {
  for (const auto& index : indexes) {
    if (index->field == field) return index;
  }
  return nullptr;
}

}  // namespace

absl::Status ReadGrants::AddIndex(IndexDefinition definition) {
  const DemandSpec widest = Widest(definition.kind);
  const std::string name = StrCat("index ", definition.field, " of ", widest.ToString());
  MutexLock lock(mutex_);
  for (const auto& [spec, grant] : grants_) {
    if (spec.kind == definition.kind && !grant.expired()) {
      return absl::FailedPreconditionError(
          StrCat("the ", name, " must be declared before the first demand of the kind"));
    }
  }
  ReadGrant::Indexes& indexes = indexes_[widest];
  if (Named(indexes, definition.field) != nullptr) {
    return absl::AlreadyExistsError(StrCat("the ", name, " is declared twice"));
  }
  indexes.push_back(std::make_shared<const IndexDefinition>(std::move(definition)));
  return absl::OkStatus();
}

std::shared_ptr<const IndexDefinition> ReadGrants::FindIndex(const KindInfo& kind,
                                                             std::string_view field) const {
  MutexLock lock(mutex_);
  const auto it = indexes_.find(Widest(kind));
  return it == indexes_.end() ? nullptr : Named(it->second, field);
}

std::shared_ptr<ReadGrant> ReadGrants::Acquire(const DemandSpec& spec) {
  MutexLock lock(mutex_);
  if (grants_.size() >= sweep_at_) {
    std::erase_if(grants_, [](const auto& entry) { return entry.second.expired(); });
    sweep_at_ = std::max<size_t>(64, 2 * grants_.size());
  }
  std::weak_ptr<ReadGrant>& entry = grants_[spec];
  auto grant = entry.lock();
  if (grant == nullptr) {
    const auto indexes = indexes_.find(Widest(spec.kind));
    entry = grant = std::make_shared<ReadGrant>(
        spec, indexes == indexes_.end() ? ReadGrant::Indexes() : indexes->second);
  }
  grant->Add();
  return grant;
}

std::vector<std::shared_ptr<ReadGrant>> ReadGrants::Find(
    const std::vector<DemandSpec>& scopes) const {
  std::vector<std::shared_ptr<ReadGrant>> found;
  MutexLock lock(mutex_);
  for (const DemandSpec& scope : scopes) {
    const auto it = grants_.find(scope);
    auto grant = it == grants_.end() ? nullptr : it->second.lock();
    if (grant != nullptr && grant->demands() > 0) found.push_back(std::move(grant));
  }
  return found;
}

size_t ReadGrants::size() const {
  MutexLock lock(mutex_);
  return grants_.size();
}

}  // namespace mandate
