#include "manager/cache/watch_budget.h"

#include <algorithm>
#include <functional>
#include <limits>
#include <tuple>
#include <utility>
#include <vector>

#include "manager/core/status_macros.h"
#include "manager/core/strings.h"

namespace mandate {

WatchBudget::WatchBudget(const Options& options, const Clock& clock, Metrics& metrics)
    : options_(options), metrics_(metrics), clock_(clock) {
  metrics_
      .Gauge("mandate_cache_budget_limit_bytes",
             "Limit of the stored objects that all watches may hold, in bytes", {})
      .Set(static_cast<double>(options_.max_bytes));
  metrics_
      .Gauge("mandate_cache_budget_limit_watches", "Limit of the open watches of each component",
             {})
      .Set(static_cast<double>(options_.max_watches));
}

void WatchBudget::AddComponent(std::string_view component) { Find(component); }

WatchBudget::Component& WatchBudget::Find(std::string_view name) {
  const auto [it, is_new] = components_.try_emplace(std::string(name));
  Component& component = it->second;
  if (!is_new) return component;
  component.name = name;
  const Labels labels = {{"identity", component.name}};
  component.bytes_gauge = &metrics_.Gauge(
      "mandate_cache_budget_used_bytes",
      "Bytes that the watches of a component hold, with their objects as encoded", labels);
  component.watches_gauge =
      &metrics_.Gauge("mandate_cache_budget_used_watches", "Open watches of a component", labels);
  return component;
}

void WatchBudget::Add(const Account& account) {
  Component& component = *account.component_;
  component.bytes += account.counted_bytes();
  component.watches += account.counted_watches();
}

void WatchBudget::Subtract(const Account& account) {
  Component& component = *account.component_;
  component.bytes -= account.counted_bytes();
  component.watches -= account.counted_watches();
}

void WatchBudget::Publish(const Component& component) {
  component.bytes_gauge->Set(static_cast<double>(component.bytes));
  component.watches_gauge->Set(static_cast<double>(component.watches));
}

size_t WatchBudget::Share() const {
  return options_.max_bytes / 2 / std::max<size_t>(1, components_.size());
}

size_t WatchBudget::Common() const {
  size_t used = 0;
  for (const auto& [name, component] : components_) {
    used += component.bytes - std::min(component.bytes, Share());
  }
  return used;
}

bool WatchBudget::IsOver(const Component& component, size_t room) const {
  return component.bytes > Share() && Common() + room > options_.max_bytes - options_.max_bytes / 2;
}

bool WatchBudget::MayEndFor(const Component& grown, const Component& component) const {
  return component.bytes > Share() && component.bytes >= grown.bytes;
}

void WatchBudget::AddCandidates(const Component& component, Size size, std::vector<Candidate>& all,
                                Uses& uses) {
  for (Account* const account : component.accounts) {
    if (size(*account) == 0 || !account->demanded_) continue;
    std::set<std::string> tenants = account->demanded_->tenants();
    if (tenants.contains("")) continue;
    for (const std::string& tenant : tenants) uses[tenant] += size(*account);
    all.push_back({account, std::move(tenants)});
  }
}

size_t WatchBudget::RankOf(const std::set<std::string>& tenants, const Uses& uses) {
  size_t rank = std::numeric_limits<size_t>::max();  // nobody demands it any more
  for (const std::string& tenant : tenants) rank = std::min(rank, uses.at(tenant));
  return rank;
}

std::vector<WatchBudget::Candidate> WatchBudget::RankByBytes(const Component& grown, Uses& uses) {
  std::vector<Candidate> candidates;
  for (const auto& [name, component] : components_) {
    if (!MayEndFor(grown, component)) continue;
    AddCandidates(
        component, [](const Account& account) { return account.counted_bytes(); }, candidates,
        uses);
  }
  Forget();
  for (auto& [tenant, bytes] : uses) {
    const auto known = remembered_.find(tenant);
    if (known != remembered_.end()) bytes = std::max(bytes, known->second.bytes);
  }
  for (Candidate& candidate : candidates) candidate.rank = RankOf(candidate.tenants, uses);
  std::ranges::stable_sort(candidates, std::greater(), [](const Candidate& candidate) {
    return std::pair(candidate.rank, candidate.account->counted_bytes());
  });
  return candidates;
}

void WatchBudget::Forget() {
  const absl::Time now = clock_.TimeNow();
  for (auto& [tenant, use] : remembered_) {
    for (; use.until <= now && use.bytes > 0; use.until += kRemembered) use.bytes /= 2;
  }
  std::erase_if(remembered_, [](const auto& entry) { return entry.second.bytes == 0; });
}

void WatchBudget::Remember(const std::set<std::string>& tenants, const Uses& uses) {
  const absl::Time until = clock_.TimeNow() + kRemembered;
  for (const std::string& tenant : tenants) {
    // A smaller use does not make a larger one last longer.
    const auto [known, is_new] = remembered_.try_emplace(tenant);
    if (uses.at(tenant) > known->second.bytes) {
      known->second = {.bytes = uses.at(tenant), .until = until};
    }
  }
  while (remembered_.size() > kMostRemembered) {
    remembered_.erase(std::ranges::min_element(
        remembered_, {}, [](const auto& entry) { return entry.second.bytes; }));
  }
}

absl::Status WatchBudget::TooManyBytes(const Component& component) const {
  return absl::ResourceExhaustedError(
      StrCat("the watches of ", component.name, " hold ", component.bytes,
             " bytes, more than its share of ", Share(), ", and the half of max_watch_bytes (",
             options_.max_bytes,
             ") that all components share is used up: raise max_watch_bytes "
             "(--max-watch-size), or demand narrower scopes"));
}

absl::Status WatchBudget::TooManyWatches(const Component& component) const {
  return absl::ResourceExhaustedError(
      StrCat(component.name, " has ", options_.max_watches,
             " watches open, the most that a component may have (max_watches): demand fewer or "
             "wider scopes"));
}

absl::Status WatchBudget::AdmitBytes(Account& grown) {
  const Component& needy = *grown.component_;
  if (!IsOver(needy)) return absl::OkStatus();
  const absl::Time now = clock_.TimeNow();
  // The uses of those that end are remembered, so the ranks stay as they are.
  Uses uses;
  for (const auto& [account, tenants, rank] : RankByBytes(needy, uses)) {
    if (!IsOver(needy, options_.max_bytes / kRoomPart)) return absl::OkStatus();
    Component& component = *account->component_;
    if (!MayEndFor(needy, component)) continue;
    const absl::Status why = TooManyBytes(component);
    Remember(tenants, uses);
    for (const std::string& tenant : tenants) component.crowded[tenant] = now + kCrowded;
    account->End();
    if (account == &grown) return why;
    account->demanded_->evict(why);
  }
  if (!IsOver(needy)) return absl::OkStatus();
  grown.exceeded_ = true;
  return TooManyBytes(needy);
}

std::vector<WatchBudget::Candidate> WatchBudget::RankByWatches(const Account& opened, Uses& uses) {
  std::vector<Candidate> candidates;
  AddCandidates(
      *opened.component_, [](const Account& account) { return account.counted_watches(); },
      candidates, uses);
  for (Candidate& candidate : candidates) candidate.rank = RankOf(candidate.tenants, uses);
  std::ranges::stable_sort(candidates, std::greater(), [&](const Candidate& candidate) {
    return std::tuple(candidate.rank, candidate.account == &opened,
                      candidate.account->counted_bytes());
  });
  return candidates;
}

bool WatchBudget::IsCrowded(const Account& opened) {
  if (!opened.IsDemanded()) return false;
  return std::ranges::all_of(opened.demanded_->tenants(), [&](const std::string& tenant) {
    return opened.component_->crowded.contains(tenant);
  });
}

absl::Status WatchBudget::AdmitWatch(Account& opened) {
  Component& component = *opened.component_;
  const size_t most = options_.max_watches;
  const auto is_over = [&] { return component.watches > most; };
  if (!is_over() && !IsOver(component)) return absl::OkStatus();
  const absl::Status why = is_over() ? TooManyWatches(component) : TooManyBytes(component);
  const absl::Time now = clock_.TimeNow();
  std::erase_if(component.crowded, [&](const auto& entry) { return entry.second <= now; });
  if (IsCrowded(opened)) {
    opened.End();
    return why;
  }
  if (!is_over()) return absl::OkStatus();
  // To rank all watches takes long. So some more end, but only of tenants that have many.
  const size_t room = most / kRoomPart;
  Uses uses;
  for (const auto& [account, tenants, rank] : RankByWatches(opened, uses)) {
    const bool has_room = component.watches + room <= most;
    const bool has_few = RankOf(tenants, uses) <= 2 * room;
    if (!is_over() && (has_room || has_few)) return absl::OkStatus();
    for (const std::string& tenant : tenants) {
      --uses[tenant];
      component.crowded[tenant] = now + kCrowded;
    }
    account->End();
    if (account == &opened) return why;
    account->demanded_->evict(why);
  }
  if (!is_over()) return absl::OkStatus();
  opened.exceeded_ = true;
  return why;
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
  WatchBudget::Subtract(*this);
  WatchBudget::Publish(*component_);
}

void WatchBudget::Account::MoveTo(std::string_view component) {
  component_->accounts.erase(this);
  WatchBudget::Subtract(*this);
  WatchBudget::Publish(*component_);
  component_ = &budget_.Find(component);
  component_->accounts.insert(this);
  evicted_ = false;
  WatchBudget::Add(*this);
  WatchBudget::Publish(*component_);
}

bool WatchBudget::Account::IsDemanded() const {
  return demanded_ && !demanded_->tenants().contains("");
}

bool WatchBudget::Account::FitsIn(std::string_view component) const {
  const size_t share = budget_.Share();
  const size_t half = budget_.options_.max_bytes - budget_.options_.max_bytes / 2;
  const auto common_of = [&](size_t bytes) { return bytes - std::min(bytes, share); };
  const Component& target = budget_.Find(component);
  const size_t there = target.bytes;
  const size_t here = component_->bytes;
  const size_t common = budget_.Common() - common_of(here) + common_of(here - counted_bytes()) -
                        common_of(there) + common_of(there + bytes());
  return target.watches < budget_.options_.max_watches &&
         (there + bytes() <= share || common <= half);
}

void WatchBudget::Account::End() {
  WatchBudget::Subtract(*this);
  WatchBudget::Publish(*component_);
  exceeded_ = true;
  evicted_ = true;
}

void WatchBudget::Account::Renew() {
  exceeded_ = false;
  if (!std::exchange(evicted_, false)) return;
  WatchBudget::Add(*this);
  WatchBudget::Publish(*component_);
}

size_t WatchBudget::Account::bytes() const {
  return state_.stored + state_.queued + (state_.is_open ? budget_.options_.bytes_per_watch : 0);
}

absl::Status WatchBudget::Account::Set(size_t bytes) {
  State state = state_;
  state.stored = bytes;
  return SetState(state);
}

absl::Status WatchBudget::Account::SetQueued(size_t bytes) {
  State state = state_;
  state.queued = bytes;
  return SetState(state);
}

absl::Status WatchBudget::Account::Open() {
  State state = state_;
  state.is_open = true;
  const absl::Status admitted = SetState(state);
  if (!admitted.ok()) Close();
  return admitted;
}

void WatchBudget::Account::Close() {
  State state = state_;
  state.is_open = false;
  SetState(state).IgnoreError();  // no more than it had
}

absl::Status WatchBudget::Account::SetState(const State& state) {
  if (state == state_) return absl::OkStatus();
  const size_t bytes_before = bytes();
  const bool opens = state.is_open && !state_.is_open;
  if (!evicted_) WatchBudget::Subtract(*this);
  state_ = state;
  const bool has_grown = opens || bytes() > bytes_before;
  if (evicted_ && bytes() > 0) {
    if (!has_grown) return absl::OkStatus();
    return absl::ResourceExhaustedError("the watch is to end, to make room in max_watch_bytes");
  }
  evicted_ = false;
  WatchBudget::Add(*this);
  WatchBudget::Publish(*component_);
  if (opens) {
    RETURN_IF_ERROR(budget_.AdmitWatch(*this));
    // The objects that it still has may be too many. The server may have fewer now.
    if (!IsDemanded()) return absl::OkStatus();
  }
  return has_grown ? budget_.AdmitBytes(*this) : absl::OkStatus();
}

}  // namespace mandate
