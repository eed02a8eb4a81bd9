// The double of an API server, without a socket. Its front ends pass each request in as an
// Exchange: api_server.h serves it over HTTPS, sim_server.h in virtual time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "manager/core/executor.h"
#include "testing/apiserver/access/access.h"
#include "testing/apiserver/core.h"
#include "testing/apiserver/definitions.h"
#include "testing/apiserver/exchange.h"
#include "testing/apiserver/faults.h"
#include "testing/apiserver/resources.h"
#include "testing/apiserver/upkeep.h"

namespace mandate::apiserver {

// The bearer token of an administrator in system:masters, which every ServerCore accepts.
inline constexpr char kAdminToken[] = "admin-of-the-double";

struct ServerOptions {
  uint64_t seed = 1;
  Store::Options store;
  WatchOptions watch;
  AccessOptions access;
  // Objects (JSON, with apiVersion and kind) that exist from the start, in addition to the
  // namespaces default, kube-node-lease, kube-public and kube-system and the roles of a new
  // cluster. A warning on stderr names the parts of a definition that the double does not check
  // (CEL).
  std::vector<std::string> objects;
};

// Loop thread only.
class ServerCore {
 public:
  // `loop` outlives this.
  ServerCore(Loop& loop, ServerOptions options);
  // Closes the open exchanges.
  ~ServerCore();
  ServerCore(const ServerCore&) = delete;
  ServerCore& operator=(const ServerCore&) = delete;

  // Responds, at once or later.
  void Serve(std::shared_ptr<Exchange> exchange);

  // Stores an object without access control and admission; its kind must be served.
  absl::Status Load(const std::string& json);

  Core& core() { return core_; }
  Store& store() { return core_.store; }
  Access& access() { return access_; }
  Faults& faults() { return faults_; }

  struct Stats {
    size_t requests = 0;                    // the total, including watches
    size_t open = 0;                        // without a complete response
    size_t watches = 0;                     // the open watches
    std::map<std::string, size_t> by_verb;  // of the authorizer: "list", "watch"
  };
  Stats stats();

 private:
  void Dispatch(const std::shared_ptr<Exchange>& exchange);

  Loop& loop_;
  Core core_;
  Access access_;
  Faults faults_;
  Definitions definitions_;
  Upkeep upkeep_;
  Handler handler_;  // the filters and the stages after them
  std::unique_ptr<Resources> resources_;
  size_t requests_ = 0;
  std::map<std::string, size_t> by_verb_;
  std::vector<std::weak_ptr<Exchange>> open_;  // includes some that are closed
  size_t sweep_at_ = 64;
};

}  // namespace mandate::apiserver
