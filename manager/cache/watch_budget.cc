#include "manager/cache/watch_budget.h"

#include <algorithm>
#include <utility>

#include "manager/core/strings.h"

namespace mandate {

WatchBudget::WatchBudget(size_t max_bytes, Metrics& metrics)
    : max_bytes_(max_bytes), metrics_(metrics) {
  metrics_
      .Gauge("mandate_cache_budget_limit_bytes",
             "Limit of the stored objects that all watches may hold, in bytes", {})
      .Set(static_cast<double>(max_bytes));
}

void WatchBudget::AddComponent(std::string_view component) { Find(component); }

WatchBudget::Component& WatchBudget::Find(std::string_view component) {
  Component& found = components_[std::string(component)];
  if (found.gauge == nullptr) {
    found.gauge = &metrics_.Gauge("mandate_cache_budget_used_bytes",
                                  "Encoded objects that the watches of a component hold, in bytes",
                                  {{"identity", std::string(component)}});
  }
  return found;
}

void WatchBudget::Change(std::string_view component, size_t before, size_t after) {
  Component& found = Find(component);
  found.bytes += after;
  found.bytes -= before;
  found.gauge->Set(static_cast<double>(found.bytes));
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

WatchBudget::Account::Account(WatchBudget& budget, std::string_view component)
    : budget_(budget), component_(component) {}

WatchBudget::Account::~Account() { budget_.Change(component_, bytes_, 0); }

void WatchBudget::Account::MoveTo(std::string_view component) {
  budget_.Change(component_, bytes_, 0);
  component_ = component;
  budget_.Change(component_, 0, bytes_);
}

absl::Status WatchBudget::Account::Set(size_t bytes) {
  if (bytes == bytes_) return absl::OkStatus();
  const size_t before = std::exchange(bytes_, bytes);
  budget_.Change(component_, before, bytes);
  if (bytes < before) return absl::OkStatus();
  const size_t held = budget_.Find(component_).bytes;
  if (held <= budget_.Share() || budget_.Common() <= budget_.max_bytes_ - budget_.max_bytes_ / 2) {
    return absl::OkStatus();
  }
  return absl::ResourceExhaustedError(
      StrCat("the watches of ", component_, " hold ", held, " bytes, more than its share of ",
             budget_.Share(), ", and the half of max_watch_bytes (", budget_.max_bytes_,
             ") that all components share is used up: raise max_watch_bytes (--max-watch-size), or "
             "demand narrower scopes"));
}

}  // namespace mandate
