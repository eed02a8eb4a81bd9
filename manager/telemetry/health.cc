#include "manager/telemetry/health.h"

#include <exception>
#include <utility>

#include "manager/core/strings.h"

namespace mandate {
namespace {

constexpr char kPing[] = "ping";

absl::Status Ask(const HealthCheck& check) {
  try {
    return check();
  } catch (const std::exception& e) {
    return absl::InternalError(StrCat("the check threw: ", std::string_view(e.what())));
  } catch (...) {
    return absl::InternalError("the check threw");
  }
}

}  // namespace

HealthChecks::HealthChecks() {
  Add(kPing, [] { return absl::OkStatus(); });
}

void HealthChecks::Add(std::string name, HealthCheck check) {
  auto shared = std::make_shared<const HealthCheck>(std::move(check));
  MutexLock lock(mutex_);
  checks_[std::move(name)].swap(shared);
}

void HealthChecks::AddWarning(std::string name, HealthWarning warning) {
  auto shared = std::make_shared<const HealthWarning>(std::move(warning));
  MutexLock lock(mutex_);
  warnings_[std::move(name)].swap(shared);
}

std::vector<std::string> HealthChecks::Warnings() const {
  std::map<std::string, std::shared_ptr<const HealthWarning>> warnings;
  {
    MutexLock lock(mutex_);
    warnings = warnings_;
  }
  std::vector<std::string> texts;
  for (const auto& [name, warning] : warnings) {
    const std::string text = (*warning)();
    if (!text.empty()) texts.push_back(StrCat(name, ": ", text));
  }
  return texts;
}

std::vector<std::pair<std::string, HealthChecks::Shared>> HealthChecks::All() const {
  MutexLock lock(mutex_);
  std::vector<std::pair<std::string, Shared>> all;
  if (auto ping = checks_.find(kPing); ping != checks_.end()) all.push_back(*ping);
  for (const auto& entry : checks_) {
    if (entry.first != kPing) all.push_back(entry);
  }
  return all;
}

std::vector<HealthChecks::Result> HealthChecks::Run(const std::set<std::string>& exclude) const {
  std::vector<Result> results;
  for (const auto& [name, check] : All()) {
    const bool excluded = exclude.contains(name);
    results.push_back({name, excluded ? absl::OkStatus() : Ask(*check), excluded});
  }
  return results;
}

std::optional<absl::Status> HealthChecks::RunOne(const std::string& name) const {
  Shared check;
  {
    MutexLock lock(mutex_);
    auto it = checks_.find(name);
    if (it == checks_.end()) return std::nullopt;
    check = it->second;
  }
  return Ask(*check);
}

}  // namespace mandate
