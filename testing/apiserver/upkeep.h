// The work of kube-controller-manager that tests need: deletes the content of deleted namespaces,
// and the dependents of deleted owners.
#pragma once

#include "testing/apiserver/core.h"

namespace mandate::apiserver {

// Runs in tasks of the loop. Loop thread only.
class Upkeep {
 public:
  // `core` outlives this.
  explicit Upkeep(Core& core);

 private:
  void OnChange(const Change& change);
  // Deletes the content of the namespace, and the namespace once it is empty.
  void Empty(const std::string& ns);
  // Deletes the object, or sets its deletionTimestamp if it has finalizers.
  void Delete(const GroupResource& resource, const StoredObject& object);
  // Deletes the object's dependents without another owner. With `orphan` it only removes the owner
  // references.
  void Collect(const std::string& owner_uid, bool orphan);
  // Deletes the object if all its owners are absent; otherwise removes the references to absent
  // ones.
  void DropAbsentOwners(const GroupResource& resource, const std::string& ns,
                        const std::string& name);
  // Whether the owner is certainly absent. An owner of an unknown kind may exist.
  bool IsAbsent(const Json::Value& owner, const std::string& ns) const;
  // Does the work for the finalizers orphan and foregroundDeletion, and removes them.
  void Release(const GroupResource& resource, const std::string& ns, const std::string& name);

  Core& core_;
};

}  // namespace mandate::apiserver
