// What one demand asks for, in the reference model of the scoped cache.
#pragma once

#include <compare>
#include <optional>
#include <string>
#include <string_view>

#include "manager/cache/cache_view.h"
#include "manager/object/kind.h"
#include "manager/object/raw_object.h"

namespace mandate::model {

// All widgets, those of one namespace, or one widget; of these, the ones whose labels match the
// selector.
struct WatchScope {
  std::string ns;             // empty: cluster-wide
  std::string name;           // empty: every object
  std::string selector = {};  // as a query has it; empty: every object

  auto operator<=>(const WatchScope&) const = default;

  // The labels are not considered.
  bool Covers(const ObjectKey& key) const;
  // Whether every object of `other` is one of these.
  bool Contains(const WatchScope& other) const;
  WatchScope WithoutSelector() const { return {ns, name}; }
  // The server applies the selector.
  DemandSpec Spec() const;
  // "", "foo", "foo/x"; with a selector "foo?color=red".
  std::string ToString() const;
};

// The inverse of ToString(), without a selector.
WatchScope ParseScope(std::string_view text);

// The scope of a list or watch request; nullopt: the target is of another kind.
std::optional<WatchScope> ScopeOfTarget(std::string_view target);

}  // namespace mandate::model
