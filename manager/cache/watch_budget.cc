#include "manager/cache/watch_budget.h"

#include <algorithm>
#include <functional>
#include <limits>
#include <utility>
#include <vector>

#include "manager/core/strings.h"

namespace mandate {

WatchBudget::WatchBudget(size_t max_bytes, const Clock& clock, Metrics& metrics)
    : max_bytes_(max_bytes), metrics_(metrics), clock_(clock) {
  metrics_
      .Gauge("mandate_cache_budget_limit_bytes",
             "Limit of the stored objects that all watches may hold, in bytes", {})
      .Set(static_cast<double>(max_bytes));
}

void WatchBudget::AddComponent(std::string_view component) { Find(component); }

WatchBudget::Component& WatchBudget::Find(std::string_view name) {
  const auto [it, is_new] = components_.try_emplace(std::string(name));
  Component& component = it->second;
  if (!is_new) return component;
  component.name = name;
  component.gauge =
      &metrics_.Gauge("mandate_cache_budget_used_bytes",
                      "Encoded objects that the watches of a component hold, in bytes",
                      {{"identity", component.name}});
  return component;
}

void WatchBudget::Change(Component& component, size_t before, size_t after) {
  component.bytes += after;
  component.bytes -= before;
  component.gauge->Set(static_cast<double>(component.bytes));
}

size_t WatchBudget::Share() const {
  return max_bytes_ / 2 / std::max<size_t>(1, components_.size());
}

size_t WatchBudget::Common() const {
  size_t used = 0;
  for (const auto& [name, component] : components_) {
    used += component.bytes - std::min(component.bytes, Share());
  }
  return used;
}

bool WatchBudget::IsOver(const Component& component, size_t room) const {
  return component.bytes > Share() && Common() + room > max_bytes_ - max_bytes_ / 2;
}

bool WatchBudget::MayEndFor(const Component& grown, const Component& component) const {
  return component.bytes > Share() && component.bytes >= grown.bytes;
}

std::vector<WatchBudget::Candidate> WatchBudget::Rank(const Component& grown, Uses& uses) {
  std::vector<Candidate> candidates;
  for (const auto& [name, component] : components_) {
    if (!MayEndFor(grown, component)) continue;
    for (Account* const account : component.accounts) {
      if (account->counted() == 0 || !account->demanded_) continue;
      std::set<std::string> tenants = account->demanded_->tenants();
      if (tenants.contains("")) continue;
      for (const std::string& tenant : tenants) uses[tenant] += account->counted();
      candidates.push_back({account, std::move(tenants), 0});
    }
  }
  const absl::Time now = clock_.TimeNow();
  std::erase_if(remembered_, [&](const auto& entry) { return entry.second.until <= now; });
  for (auto& [tenant, bytes] : uses) {
    const auto known = remembered_.find(tenant);
    if (known != remembered_.end()) bytes = std::max(bytes, known->second.bytes);
  }
  for (Candidate& candidate : candidates) {
    candidate.rank = std::numeric_limits<size_t>::max();  // nobody demands it any more
    for (const std::string& tenant : candidate.tenants) {
      candidate.rank = std::min(candidate.rank, uses[tenant]);
    }
  }
  std::ranges::stable_sort(candidates, std::greater(), [](const Candidate& candidate) {
    return std::pair(candidate.rank, candidate.account->counted());
  });
  return candidates;
}

void WatchBudget::Remember(const std::set<std::string>& tenants, const Uses& uses) {
  const absl::Time until = clock_.TimeNow() + kRemembered;
  for (const std::string& tenant : tenants) {
    remembered_[tenant] = {.bytes = uses.at(tenant), .until = until};
  }
  while (remembered_.size() > kMostRemembered) {
    remembered_.erase(std::ranges::min_element(
        remembered_, {}, [](const auto& entry) { return entry.second.bytes; }));
  }
}

absl::Status WatchBudget::Admit(Account& grown) {
  const Component& needy = *grown.component_;
  if (!IsOver(needy)) return absl::OkStatus();
  const auto must_end = [this](const Component& component) {
    return absl::ResourceExhaustedError(
        StrCat("the watches of ", component.name, " hold ", component.bytes,
               " bytes, more than its share of ", Share(), ", and the half of max_watch_bytes (",
               max_bytes_,
               ") that all components share is used up: raise max_watch_bytes "
               "(--max-watch-size), or demand narrower scopes"));
  };
  // The uses of those that end are remembered, so the ranks stay as they are.
  Uses uses;
  for (const auto& [account, tenants, rank] : Rank(needy, uses)) {
    if (!IsOver(needy, max_bytes_ / kRoomPart)) return absl::OkStatus();
    Component& component = *account->component_;
    if (!MayEndFor(needy, component)) continue;
    const absl::Status why = must_end(component);
    Remember(tenants, uses);
    account->exceeded_ = true;
    Change(component, account->counted(), 0);
    account->evicted_ = true;
    if (account == &grown) return why;
    account->demanded_->evict(why);
  }
  if (!IsOver(needy)) return absl::OkStatus();
  grown.exceeded_ = true;
  return must_end(needy);
}

WatchBudget::Account::Account(WatchBudget& budget, std::string_view component)
    : budget_(budget), component_(&budget.Find(component)) {
  component_->accounts.insert(this);
}

WatchBudget::Account::Account(WatchBudget& budget, std::string_view component, Demanded demanded)
    : budget_(budget), component_(&budget.Find(component)), demanded_(std::move(demanded)) {
  component_->accounts.insert(this);
}

WatchBudget::Account::~Account() {
  component_->accounts.erase(this);
  WatchBudget::Change(*component_, counted(), 0);
}

void WatchBudget::Account::MoveTo(std::string_view component) {
  component_->accounts.erase(this);
  WatchBudget::Change(*component_, counted(), 0);
  component_ = &budget_.Find(component);
  component_->accounts.insert(this);
  evicted_ = false;
  WatchBudget::Change(*component_, 0, counted());
}

bool WatchBudget::Account::IsDemanded() const {
  return demanded_ && !demanded_->tenants().contains("");
}

bool WatchBudget::Account::FitsIn(std::string_view component) const {
  const size_t share = budget_.Share();
  const auto common_of = [&](size_t bytes) { return bytes - std::min(bytes, share); };
  const size_t there = budget_.Find(component).bytes;
  const size_t here = component_->bytes;
  const size_t common = budget_.Common() - common_of(here) + common_of(here - counted()) -
                        common_of(there) + common_of(there + bytes());
  return there + bytes() <= share || common <= budget_.max_bytes_ - budget_.max_bytes_ / 2;
}

void WatchBudget::Account::Renew() {
  exceeded_ = false;
  if (std::exchange(evicted_, false)) WatchBudget::Change(*component_, 0, counted());
}

absl::Status WatchBudget::Account::Set(size_t bytes) { return SetPart(stored_, bytes); }

absl::Status WatchBudget::Account::SetQueued(size_t bytes) { return SetPart(queued_, bytes); }

absl::Status WatchBudget::Account::SetPart(size_t& part, size_t bytes) {
  if (part == bytes) return absl::OkStatus();
  const size_t before = counted();
  const bool has_grown = bytes > std::exchange(part, bytes);
  if (this->bytes() == 0) evicted_ = false;
  if (evicted_) {
    if (!has_grown) return absl::OkStatus();
    return absl::ResourceExhaustedError("the watch is to end, to make room in max_watch_bytes");
  }
  WatchBudget::Change(*component_, before, counted());
  return has_grown ? budget_.Admit(*this) : absl::OkStatus();
}

}  // namespace mandate
