// A bounded cache whose entries expire.
#pragma once

#include <cstddef>
#include <list>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "absl/time/time.h"

namespace mandate {

// A full cache evicts the least recently used entry. Not thread-safe.
template <class Value>
class ExpiringCache {
 public:
  explicit ExpiringCache(size_t capacity) : capacity_(capacity) {}

  // Null if the key is absent or has expired. The pointer is valid until the next call.
  const Value* Find(const std::string& key, absl::Time now) {
    const auto found = by_key_.find(key);
    if (found == by_key_.end()) return nullptr;
    if (found->second->expires <= now) {
      Erase(found->second);
      return nullptr;
    }
    entries_.splice(entries_.begin(), entries_, found->second);
    return &found->second->value;
  }

  // Replaces an entry of the same key.
  void Put(const std::string& key, Value value, absl::Time expires) {
    if (const auto found = by_key_.find(key); found != by_key_.end()) Erase(found->second);
    if (capacity_ == 0) return;
    if (entries_.size() >= capacity_) Erase(std::prev(entries_.end()));
    entries_.push_front({key, std::move(value), expires});
    by_key_[entries_.front().key] = entries_.begin();
  }

  size_t size() const { return entries_.size(); }

 private:
  struct Entry {
    std::string key;
    Value value;
    absl::Time expires;
  };
  using Entries = std::list<Entry>;

  void Erase(typename Entries::iterator entry) {
    by_key_.erase(entry->key);
    entries_.erase(entry);
  }

  const size_t capacity_;
  Entries entries_;  // the most recently used first
  std::unordered_map<std::string_view, typename Entries::iterator> by_key_;  // views of the keys
};

}  // namespace mandate
