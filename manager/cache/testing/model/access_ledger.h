// The server's latest answers about each component's access, and the times of later requests.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/time/time.h"
#include "manager/cache/testing/model/watch_scope.h"

namespace mandate::model {

// The latest answers, in the order in which the component received them. An accepted watch allows,
// a denied one denies; the access reviews of one round, if all have an answer, do the same.
class AccessLedger {
 public:
  enum class Answer { kNone, kAllowed, kDenied };

  // The component begins to demand the scope: earlier answers do not count.
  void Begin(const std::string& component, const WatchScope& scope) {
    entries_[{component, scope}] = {};
  }
  void Note(const std::string& component, const WatchScope& scope, Answer answer, absl::Time now) {
    Entry& entry = entries_[{component, scope}];
    entry = {answer, now, /*asked_again=*/false, /*in_process=*/false};
  }
  // A stream has ended with a denial, which the cache processes in its next task. Until
  // EndProcess(), events that arrived before may still be delivered.
  void NoteDeniedStream(const std::string& component, const WatchScope& scope, absl::Time now) {
    Note(component, scope, Answer::kDenied, now);
    entries_[{component, scope}].in_process = true;
  }
  void EndProcess(const std::string& component, const WatchScope& scope) {
    entries_[{component, scope}].in_process = false;
  }
  // The component's credential is gone: what was allowed with it does not count, and its next
  // requests ask for another credential rather than for access.
  void LoseCredential(const std::string& component) {
    for (auto& [key, entry] : entries_) {
      if (key.first != component) continue;
      if (entry.answer == Answer::kAllowed) entry = {};
      entry.asked_again = true;
    }
  }
  // The component sends a request. A first one after a denial is a probe.
  void Ask(const std::string& component, const WatchScope& scope, absl::Time now) {
    Entry& entry = entries_[{component, scope}];
    if (entry.answer != Answer::kDenied || std::exchange(entry.asked_again, true)) return;
    probes_[component].push_back(now);
  }

  Answer Of(const std::string& component, const WatchScope& scope) const {
    return Find(component, scope).answer;
  }
  // Whether the component may still receive events.
  bool MayDeliver(const std::string& component, const WatchScope& scope) const {
    const Entry entry = Find(component, scope);
    return entry.answer != Answer::kDenied || entry.in_process;
  }
  // When the present answer came.
  absl::Time At(const std::string& component, const WatchScope& scope) const {
    return Find(component, scope).at;
  }
  // The times of the component's probes since the last call.
  std::vector<absl::Time> TakeProbes(const std::string& component) {
    return std::exchange(probes_[component], {});
  }

 private:
  struct Entry {
    Answer answer = Answer::kNone;
    absl::Time at = absl::InfinitePast();
    bool asked_again = false;
    bool in_process = false;
  };

  Entry Find(const std::string& component, const WatchScope& scope) const {
    const auto found = entries_.find({component, scope});
    return found == entries_.end() ? Entry() : found->second;
  }

  std::map<std::pair<std::string, WatchScope>, Entry> entries_;
  std::map<std::string, std::vector<absl::Time>> probes_;
};

}  // namespace mandate::model
