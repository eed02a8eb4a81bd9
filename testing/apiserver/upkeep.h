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
  // Deletes what the object owned and nobody else owns.
  void Collect(const std::string& owner_uid);

  Core& core_;
};

}  // namespace mandate::apiserver

#endif  // TESTING_APISERVER_UPKEEP_H_
