// What one component may read, by scope, and its indexes.
#ifndef MANAGER_CACHE_READ_GRANTS_H_
#define MANAGER_CACHE_READ_GRANTS_H_

#include <map>
#include <memory>
#include <string_view>
#include <tuple>
#include <vector>

#include "absl/status/status.h"
#include "manager/cache/cache_view.h"
#include "manager/cache/index.h"
#include "manager/cache/read_grant.h"
#include "manager/core/mutex.h"

namespace mandate {

// Order of demands; the scopes of one kind stand together, the widest first.
struct DemandLess {
  static auto Of(const DemandSpec& s) {
    return std::tuple(s.kind.group, s.kind.version, s.kind.plural, std::string_view(s.ns),
                      std::string_view(s.name));
  }
  bool operator()(const DemandSpec& a, const DemandSpec& b) const { return Of(a) < Of(b); }
};

// A grant lives as long as a demand or a membership holds it; what is left of ended ones is swept
// away now and then. Thread-safe.
class ReadGrants {
 public:
  // kFailedPrecondition: the kind has grants. kAlreadyExists: it has such an index.
  absl::Status AddIndex(IndexDefinition definition);
  // Null: the component has not declared it.
  std::shared_ptr<const IndexDefinition> FindIndex(const KindInfo& kind,
                                                   std::string_view field) const;

  // The grant of this scope, with one more demand.
  std::shared_ptr<ReadGrant> Acquire(const DemandSpec& spec);
  // Those with demands, of `scopes`, in that order.
  std::vector<std::shared_ptr<ReadGrant>> Find(const std::vector<DemandSpec>& scopes) const;
  // Ended ones among them.
  size_t size() const;

 private:
  mutable Mutex mutex_;
  std::map<DemandSpec, std::weak_ptr<ReadGrant>, DemandLess> grants_ ABSL_GUARDED_BY(mutex_);
  // By the kind's widest scope.
  std::map<DemandSpec, ReadGrant::Indexes, DemandLess> indexes_ ABSL_GUARDED_BY(mutex_);
  size_t sweep_at_ ABSL_GUARDED_BY(mutex_) = 64;
};

}  // namespace mandate

#endif  // MANAGER_CACHE_READ_GRANTS_H_
