#include "manager/telemetry/health.h"

#include <exception>
#include <utility>

#include "absl/strings/match.h"
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

std::string AsLines(absl::string_view text) {
  return StrCat(AsStd(text), absl::EndsWith(text, "\n") ? "" : "\n");
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

void HealthChecks::Remove(const std::string& name) {
  Shared removed;  // destroyed without the lock
  MutexLock lock(mutex_);
  auto it = checks_.find(name);
  if (it == checks_.end()) return;
  removed = std::move(it->second);
  checks_.erase(it);
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

std::vector<std::string> HealthChecks::Names() const {
  std::vector<std::string> names;
  for (const auto& [name, check] : All()) names.push_back(name);
  return names;
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

HealthAnswer AnswerHealth(const HealthChecks& checks, std::string_view endpoint, bool verbose,
                          const std::set<std::string>& exclude) {
  std::string lines;
  bool healthy = true;
  std::set<std::string> unmatched = exclude;
  for (const HealthChecks::Result& result : checks.Run(exclude)) {
    if (result.excluded) {
      unmatched.erase(result.name);
      StrAppend(&lines, "[+]", result.name, " excluded: ok\n");
    } else if (result.status.ok()) {
      StrAppend(&lines, "[+]", result.name, " ok\n");
    } else {
      healthy = false;
      // A manifest within the reason is not escaped, so that it can be pasted.
      StrAppend(&lines, "[-]", result.name,
                " failed: ", verbose ? AsLines(result.status.message()) : "reason withheld\n");
    }
  }
  for (const std::string& name : unmatched) {
    StrAppend(&lines, "warn: some health checks cannot be excluded: no matches for \"", name,
              "\"\n");
  }
  if (verbose) {
    for (const std::string& warning : checks.Warnings()) {
      StrAppend(&lines, "warn: ", AsLines(warning));
    }
  }
  if (!healthy) return {500, StrCat(lines, endpoint, " check failed\n")};
  if (!verbose) return {200, "ok"};
  return {200, StrCat(lines, endpoint, " check passed\n")};
}

HealthAnswer AnswerHealthOf(const HealthChecks& checks, const std::string& name) {
  const std::optional<absl::Status> status = checks.RunOne(name);
  if (!status.has_value()) return {404, StrCat("no check is named \"", name, "\"\n")};
  if (status->ok()) return {200, "ok"};
  return {500, StrCat("internal server error: ", AsLines(status->message()))};
}

}  // namespace mandate
