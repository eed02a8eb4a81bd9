#include "manager/client/own_writes.h"

#include <algorithm>
#include <functional>

namespace mandate {
namespace {

bool IsNumber(std::string_view version) {
  return !version.empty() && (version == "0" || version[0] != '0') &&
         std::all_of(version.begin(), version.end(), [](char c) { return c >= '0' && c <= '9'; });
}

// Compares numbers of any size, without leading zeros.
bool IsNewer(std::string_view a, std::string_view b) {
  return a.size() != b.size() ? a.size() > b.size() : a > b;
}

}  // namespace

size_t OwnWrites::SlotOf(const KindInfo& kind) {
  const std::hash<std::string_view> hash;
  return (hash(kind.group) * 31 + hash(kind.plural)) % kSlots;
}

void OwnWrites::Limit(size_t most, prometheus::Counter* forgotten) {
  MutexLock lock(mutex_);
  most_ = most;
  forgotten_ = forgotten;
}

OwnWrites::Kind* OwnWrites::Of(const KindInfo& kind) {
  const auto writes = kinds_.find(NameOf(kind));
  return writes == kinds_.end() ? nullptr : &writes->second;
}

OwnWrite& OwnWrites::Touch(const KindInfo& kind, ObjectKey key) {
  if (kind.scope == Scope::kCluster) key.ns.clear();
  Kind& writes = kinds_[NameOf(kind)];
  auto [it, is_new] = writes.by_key.try_emplace(key);
  if (is_new) {
    it->second.key = key;
    ++slots_[SlotOf(kind)];
  } else {
    writes.by_number.erase(it->second.number);
  }
  it->second.number = ++last_number_;
  writes.by_number.emplace(last_number_, key);
  if (writes.by_key.size() > most_) {
    const auto oldest = writes.by_number.begin();
    writes.by_key.erase(oldest->second);
    writes.by_number.erase(oldest);
    --slots_[SlotOf(kind)];
    if (forgotten_ != nullptr) forgotten_->Increment();
  }
  return it->second;
}

void OwnWrites::Wrote(const KindInfo& kind, const ObjectKey& key,
                      std::string_view resource_version) {
  if (!IsNumber(resource_version)) return;
  MutexLock lock(mutex_);
  OwnWrite& write = Touch(kind, key);
  // Of two workers, the one with the older answer may come last.
  if (IsNewer(resource_version, write.resource_version)) {
    write.resource_version = std::string(resource_version);
  }
}

void OwnWrites::Deleted(const KindInfo& kind, const ObjectKey& key, std::string_view uid) {
  if (uid.empty()) return;
  MutexLock lock(mutex_);
  // An older write stays. Until the cache has seen it, an absent object may just not have come yet.
  Touch(kind, key).gone = std::string(uid);
}

std::vector<OwnWrite> OwnWrites::Pending(const KindInfo& kind, std::string_view ns,
                                         std::string_view name) const {
  std::vector<OwnWrite> found;
  MutexLock lock(mutex_);
  const auto writes = kinds_.find(NameOf(kind));
  if (writes == kinds_.end()) return found;
  const auto& by_key = writes->second.by_key;
  if (!name.empty()) {
    const auto it = by_key.find({std::string(ns), std::string(name)});
    if (it != by_key.end()) found.push_back(it->second);
    return found;
  }
  for (auto it = by_key.lower_bound({std::string(ns), ""});
       it != by_key.end() && (ns.empty() || it->first.ns == ns); ++it) {
    found.push_back(it->second);
  }
  return found;
}

void OwnWrites::Forget(const KindInfo& kind, const std::vector<OwnWrite>& seen) {
  MutexLock lock(mutex_);
  Kind* writes = Of(kind);
  if (writes == nullptr) return;
  auto& [by_key, by_number] = *writes;
  for (const OwnWrite& write : seen) {
    const auto it = by_key.find(write.key);
    if (it == by_key.end() || it->second.number != write.number) continue;
    by_key.erase(it);
    by_number.erase(write.number);
    --slots_[SlotOf(kind)];
  }
}

}  // namespace mandate
