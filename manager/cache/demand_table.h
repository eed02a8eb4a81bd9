// Which owner demands what: the state behind DemandSet (manager/controller/demand_set.h).
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/functional/function_ref.h"
#include "manager/cache/cache_view.h"
#include "manager/cache/name_numbers.h"
#include "manager/object/kind.h"
#include "manager/object/selector.h"

namespace mandate {

// An object that demands other objects. An object that was created again under the same name is
// another owner, because its UID is another.
struct DemandOwner {
  ObjectKey key;
  std::string uid;

  bool operator==(const DemandOwner&) const = default;
};

// Who applies a label selector.
enum class SelectorMode {
  kDefault,  // the server for Secrets and ConfigMaps, the router for other kinds
  // Demands of one scope share a watch of all its objects; each event is routed to the owners whose
  // selectors match. RBAC knows no labels, so this needs no further permission.
  kRoute,
  kServer,  // one watch for each selector: other objects never reach this process
};

// The objects of `spec` whose labels match `selector`.
struct SelectedDemand {
  DemandSpec spec;
  LabelSelector selector = {};  // empty: all of them
  SelectorMode mode = SelectorMode::kDefault;

  // The watch that delivers these objects, perhaps among others. A single object has no selector
  // there: its name selects it.
  DemandSpec Stream() const;
};

// The demands of all owners, and the index from an object to the owners that demand it. Demands
// with the same Stream() share it. A value without I/O; not thread-safe.
//
// Costs: Replace() takes time in proportion to the number of the owner's demands (and must sort
// them first, as StreamsOf() must, after an Add()), Add() constant time. An object is mapped to
// owners in time proportional to the owners without a selector, those that select by one of its
// labels, and those without an equality in their selector.
class DemandTable {
 public:
  struct Change {
    std::vector<DemandSpec> opened;  // the streams that got their first demand
    std::vector<DemandSpec> closed;  // those that lost their last one
    std::vector<DemandSpec> joined;  // open ones that have their first owner of this namespace
  };
  // The labels of an object.
  using Labels = std::map<std::string, std::string>;

  DemandTable();
  ~DemandTable();
  DemandTable(const DemandTable&) = delete;
  DemandTable& operator=(const DemandTable&) = delete;

  // Makes `demands` the demands of the owner; duplicates count once. An earlier owner with the same
  // key and another UID loses all of its demands.
  Change Replace(const DemandOwner& owner, const std::vector<SelectedDemand>& demands);
  // Adds one demand to those of the owner.
  Change Add(const DemandOwner& owner, const SelectedDemand& demand);
  // Releases all demands of the owner with this key. `uid` empty: whatever its UID is.
  Change Release(const ObjectKey& key, std::string_view uid = "");
  Change ReleaseAll();

  // Calls `found` for each owner of the stream, and for each owner whose selector matches the
  // labels. An owner may be found more than once.
  void ForEachOwner(const DemandSpec& stream,
                    absl::FunctionRef<void(const ObjectKey&)> found) const;
  void ForEachOwner(const DemandSpec& stream, const Labels& labels,
                    absl::FunctionRef<void(const ObjectKey&)> found) const;
  // How many owners those find at most, in time that does not depend on their number.
  size_t MostOwners(const DemandSpec& stream) const;
  size_t MostOwners(const DemandSpec& stream, const Labels& labels) const;
  std::set<std::string> NamespacesOfOwners(const DemandSpec& stream) const;
  // Whether a demand of the stream has a selector: otherwise the labels need not be read.
  bool HasSelectors(const DemandSpec& stream) const;

  // The streams of an owner's demands, each once.
  std::vector<DemandSpec> StreamsOf(const ObjectKey& key) const;

  size_t owners() const { return owners_.size(); }
  size_t streams() const { return streams_.size(); }
  size_t selectors() const { return selectors_.size(); }  // distinct ones that demands use
  size_t demands() const { return demands_; }

 private:
  struct Stream;
  struct Owner;
  struct Selector;
  // One demand of an owner; the pointers are stable.
  struct Entry {
    Stream* stream;
    Selector* selector;  // null: none

    auto operator<=>(const Entry&) const = default;
  };

  Owner& OwnerFor(const DemandOwner& owner);
  Entry Intern(const SelectedDemand& demand);
  static bool IsLinked(const Owner& owner, const Entry& entry);
  void Link(const Owner& owner, const Entry& entry, Change& change);
  void Unlink(const Owner& owner, const Entry& entry, Change& change);

  absl::flat_hash_map<DemandSpec, std::unique_ptr<Stream>> streams_;
  absl::flat_hash_map<ObjectKey, std::unique_ptr<Owner>> owners_;
  absl::flat_hash_map<std::string, std::unique_ptr<Selector>> selectors_;  // by their text
  NameNumbers namespaces_;                                                 // of the owners
  size_t demands_ = 0;
};

}  // namespace mandate
