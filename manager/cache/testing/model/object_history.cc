#include "manager/cache/testing/model/object_history.h"

#include <utility>

#include "manager/core/strings.h"
#include "manager/object/selector.h"

namespace mandate::model {

std::string ToString(const Content& content) {
  std::string text;
  for (const auto& [key, version] : content) {
    StrAppend(&text, text.empty() ? "" : " ", key.ToString(), "@", version);
  }
  return StrCat("{", text, "}");
}

int VersionOf(const RawObject& object) { return std::stoi(std::string(object.resource_version())); }

bool Selects(const std::string& selector, const ObjectLabels& labels) {
  return selector.empty() || LabelSelector::Parse(selector)->Matches(labels);
}

void ObjectHistory::Put(const ObjectKey& key, int version, const ObjectLabels& labels,
                        std::string uid) {
  const State* const now = Now(key);
  if (uid.empty()) uid = now != nullptr ? now->uid : StrCat("uid-", ++created_);
  states_[key].push_back({version, std::move(uid), labels});
  version_ = version;
}

void ObjectHistory::Delete(const ObjectKey& key, int version) {
  if (Now(key) == nullptr) return;
  states_[key].push_back({version, "", {}});
  version_ = version;
}

const ObjectHistory::State* ObjectHistory::Now(const ObjectKey& key) const {
  const auto found = states_.find(key);
  if (found == states_.end() || !found->second.back().exists()) return nullptr;
  return &found->second.back();
}

const ObjectHistory::State* ObjectHistory::At(const ObjectKey& key, int version) const {
  const auto found = states_.find(key);
  if (found == states_.end()) return nullptr;
  for (const State& state : found->second) {
    if (state.version == version) return state.exists() ? &state : nullptr;
  }
  return nullptr;
}

bool ObjectHistory::WasAbsentSince(const ObjectKey& key, int version) const {
  const auto found = states_.find(key);
  if (found == states_.end()) return true;
  const std::vector<State>& states = found->second;
  // Before its first state it was absent.
  if (version < states.front().version) return true;
  for (size_t i = 0; i < states.size(); ++i) {
    const bool ends_before = i + 1 < states.size() && states[i + 1].version <= version;
    if (!states[i].exists() && !ends_before) return true;
  }
  return false;
}

Content ObjectHistory::Of(const WatchScope& scope) const {
  Content content;
  for (const auto& [key, states] : states_) {
    const State& last = states.back();
    if (!last.exists() || !scope.Covers(key) || !Selects(scope.selector, last.labels)) continue;
    content[key] = last.version;
  }
  return content;
}

}  // namespace mandate::model
