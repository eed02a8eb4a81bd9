#include "manager/cache/closed_scopes.h"

#include <algorithm>

namespace mandate {

void ClosedScopes::Add(std::string_view ns, std::string_view name, uint64_t version) {
  const auto [it, is_new] = versions_.try_emplace(Scope(ns, name), version);
  // A list may be older than what the watch before it had seen.
  it->second = std::max(it->second, version);
  oldest_ = std::min(oldest_, version);
  if (versions_.size() <= most_) return;
  versions_.erase(
      std::ranges::min_element(versions_, {}, [](const auto& entry) { return entry.second; }));
  if (forgotten_ != nullptr) forgotten_->Increment();
}

bool ClosedScopes::Knew(std::string_view ns, std::string_view name, uint64_t version) const {
  if (empty()) return false;
  const auto knew = [&](ScopeRef scope) {
    const auto closed = versions_.find(scope);
    return closed != versions_.end() && version <= closed->second;
  };
  return knew({"", ""}) || knew({"", name}) || knew({ns, ""}) || knew({ns, name});
}

void ClosedScopes::MoveTo(uint64_t version) {
  if (version < oldest_) return;
  oldest_ = UINT64_MAX;
  for (auto it = versions_.begin(); it != versions_.end();) {
    if (it->second <= version) {
      it = versions_.erase(it);
    } else {
      oldest_ = std::min(oldest_, it->second);
      ++it;
    }
  }
}

void ClosedScopes::ForEach(
    absl::FunctionRef<void(std::string_view, std::string_view, uint64_t)> found) const {
  for (const auto& [scope, version] : versions_) found(scope.first, scope.second, version);
}

}  // namespace mandate
