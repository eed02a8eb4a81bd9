// What kube-controller-manager does in a cluster and a test cannot do without: the content of
// deleted namespaces, and objects whose owners are gone.
#ifndef TESTING_APISERVER_UPKEEP_H_
#define TESTING_APISERVER_UPKEEP_H_

#include "testing/apiserver/core.h"

namespace mandate::apiserver {

// Acts on its own, in tasks of the loop. Loop thread only.
class Upkeep {
 public:
  // `core` outlives this.
  explicit Upkeep(Core& core);

 private:
  void OnChange(const Change& change);
  // Deletes what is in the namespace, and once it is empty the namespace.
  void Empty(const std::string& ns);
  // Deletes the object, or marks it when it has finalizers.
  void Delete(const GroupResource& resource, const StoredObject& object);
  // Deletes what the object owned and nobody else owns, or (`orphan`) only takes the owner off.
  void Collect(const std::string& owner_uid, bool orphan);
  // Deletes the object when all its owners are gone; takes those off that are, when some are not.
  void DropAbsentOwners(const GroupResource& resource, const std::string& ns,
                        const std::string& name);
  // Whether the owner is certainly not there. One of a kind that is not served may be.
  bool IsAbsent(const Json::Value& owner, const std::string& ns) const;
  // Does what the finalizers orphan and foregroundDeletion wait for, and takes them off.
  void Release(const GroupResource& resource, const std::string& ns, const std::string& name);

  Core& core_;
};

}  // namespace mandate::apiserver

#endif  // TESTING_APISERVER_UPKEEP_H_
