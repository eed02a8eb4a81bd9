#include "controllers/scope/awaited_bindings.h"

#include <utility>

namespace mandate::scope {

bool AwaitedBindings::TrackUntilChanged(const ObjectKey& of, absl::FunctionRef<ByRole()> read) {
  {
    MutexLock lock(mutex_);
    states_[of] = {.reading = true};
  }
  ByRole bindings = read();
  std::erase_if(bindings, [](const auto& role) { return role.second.empty(); });
  MutexLock lock(mutex_);
  const std::set<std::string> changed = std::exchange(states_[of], {}).changed;
  for (auto& [role, awaited] : bindings) {
    std::erase_if(awaited, [&](const std::string& one) { return changed.contains(one); });
  }
  const bool waits =
      std::erase_if(bindings, [](const auto& role) { return role.second.empty(); }) == 0;
  if (bindings.empty()) {
    states_.erase(of);
  } else {
    states_[of].awaited = std::move(bindings);
  }
  return waits;
}

void AwaitedBindings::Forget(const ObjectKey& of) {
  MutexLock lock(mutex_);
  states_.erase(of);
}

bool AwaitedBindings::NoteChange(const ObjectKey& of, std::string_view role,
                                 const std::string& binding) {
  MutexLock lock(mutex_);
  const auto found = states_.find(of);
  if (found == states_.end()) return false;
  State& state = found->second;
  if (state.reading) {
    state.changed.insert(binding);
    return false;
  }
  const auto awaited = state.awaited.find(role);
  if (awaited == state.awaited.end() || awaited->second.erase(binding) == 0) return false;
  if (!awaited->second.empty()) return false;
  state.awaited.erase(awaited);
  return true;
}

}  // namespace mandate::scope
