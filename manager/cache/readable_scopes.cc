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
  const auto has_kind = [&](const auto& entry) {
    return DemandLess::IsSameKind(entry.first, widest) && !entry.second.expired();
  };
  MutexLock lock(mutex_);
  if (std::any_of(scopes_.begin(), scopes_.end(), has_kind) ||
      std::any_of(selected_.begin(), selected_.end(), has_kind)) {
    return absl::FailedPreconditionError(
        StrCat("the ", name, " must be declared before the first demand of the kind"));
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
  if (scopes_.size() + selected_.size() >= sweep_at_) {
    const auto is_unheld = [](const auto& entry) { return entry.second.expired(); };
    absl::erase_if(scopes_, is_unheld);
    std::erase_if(selected_, is_unheld);
    sweep_at_ = std::max<size_t>(64, 2 * (scopes_.size() + selected_.size()));
  }
  Entry& entry = spec.labels.empty() ? scopes_[spec] : selected_[spec];
  auto scope = entry.lock();
  if (scope == nullptr) {
    const auto indexes = indexes_.find(Widest(spec.kind));
    entry = scope = std::make_shared<ReadableScope>(
        spec, indexes == indexes_.end() ? ReadableScope::Indexes() : indexes->second);
  }
  scope->Add();
  return scope;
}

std::vector<std::shared_ptr<ReadableScope>> ReadableScopes::FindCovering(
    const DemandSpec& asked) const {
  std::vector<std::shared_ptr<ReadableScope>> found;
  Key key = DemandLess::Of(asked);
  std::string_view& ns = std::get<5>(key);
  std::string_view& name = std::get<6>(key);
  MutexLock lock(mutex_);
  const auto add = [&](std::string_view of_ns, std::string_view of_name) {
    ns = of_ns;
    name = of_name;
    const auto it = scopes_.find(key);
    auto scope = it == scopes_.end() ? nullptr : it->second.lock();
    if (scope != nullptr && scope->demands() > 0) found.push_back(std::move(scope));
  };
  for (;;) {
    add("", "");
    if (!asked.ns.empty()) add(asked.ns, "");
    if (!asked.name.empty()) add(asked.ns, asked.name);
    // Metadata can also be read from whole objects.
    if (!std::exchange(std::get<3>(key), false)) return found;
  }
}

std::vector<std::shared_ptr<ReadableScope>> ReadableScopes::FindSelected(
    const KindInfo& kind, std::string_view ns) const {
  std::vector<std::shared_ptr<ReadableScope>> found;
  MutexLock lock(mutex_);
  const DemandSpec all = {kind, std::string(ns), ""};
  for (auto it = selected_.lower_bound(all);
       it != selected_.end() && DemandLess::IsSameKind(it->first, all) && it->first.ns == ns;
       ++it) {
    auto scope = it->second.lock();
    if (scope != nullptr && scope->demands() > 0) found.push_back(std::move(scope));
  }
  return found;
}

size_t ReadableScopes::size() const {
  MutexLock lock(mutex_);
  return scopes_.size() + selected_.size();
}

}  // namespace mandate
