// A large cluster for the scope controllers, on the double: templates, instances and namespaces.
#ifndef HACK_BENCH_SCOPE_START_SCOPE_CLUSTER_H_
#define HACK_BENCH_SCOPE_START_SCOPE_CLUSTER_H_

#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "testing/apiserver/api_server.h"

namespace mandate::bench {

struct ScopeSize {
  int namespaces = 3000;
  int instances = 1000;
  int roles = 800;       // two for each template
  int per_instance = 3;  // namespaces that each instance names
};

// Thread-safe.
class ScopeCluster {
 public:
  // The double over HTTPS, with everything declared and nothing reconciled.
  static absl::StatusOr<std::unique_ptr<ScopeCluster>> Create(const ScopeSize& size);

  apiserver::ApiServer& server() { return *server_; }
  // Instances whose condition Scoped is True.
  int scoped();
  // Requests that changed an object, ever.
  size_t writes();

 private:
  ScopeCluster() = default;

  std::unique_ptr<apiserver::ApiServer> server_;
};

}  // namespace mandate::bench

#endif  // HACK_BENCH_SCOPE_START_SCOPE_CLUSTER_H_
