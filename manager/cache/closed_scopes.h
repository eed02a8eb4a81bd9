// Up to which versions the closed watches of other scopes knew the objects of one store.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>

#include "absl/functional/function_ref.h"
#include "manager/core/metrics.h"

namespace mandate {

// For each closed scope, the latest version at which its watch was closed. Until the store's own
// watch has reached that version, an object of the scope that is not in the store was deleted, or
// has lost the labels of the store's selector, if it comes in this version or an older one.
class ClosedScopes {
 public:
  // Of more than `most` scopes, the one with the oldest version is forgotten, and `forgotten`
  // counts it; null: nobody counts. It outlives this.
  explicit ClosedScopes(size_t most, prometheus::Counter* forgotten = nullptr)
      : most_(most), forgotten_(forgotten) {}

  bool empty() const { return versions_.empty(); }
  size_t size() const { return versions_.size(); }

  // A scope has the objects with this namespace and this name; empty: all.
  void Add(std::string_view ns, std::string_view name, uint64_t version);
  // Whether a closed watch has seen the object in this version or a newer one, if it existed.
  bool Knew(std::string_view ns, std::string_view name, uint64_t version) const;
  // The store's own watch has reached `version`.
  void MoveTo(uint64_t version);
  void ForEach(absl::FunctionRef<void(std::string_view ns, std::string_view name, uint64_t version)>
                   found) const;

 private:
  using Scope = std::pair<std::string, std::string>;
  using ScopeRef = std::pair<std::string_view, std::string_view>;
  struct Less {
    using is_transparent = void;
    bool operator()(ScopeRef a, ScopeRef b) const { return a < b; }
  };

  const size_t most_;
  prometheus::Counter* const forgotten_;
  std::map<Scope, uint64_t, Less> versions_;
  uint64_t oldest_ = UINT64_MAX;  // no scope has an older version
};

}  // namespace mandate
