// The double of an API server, without a socket: a request comes in as an Exchange, by whichever
// front end. api_server.h serves it over HTTPS, sim_server.h in virtual time.
#ifndef TESTING_APISERVER_SERVER_CORE_H_
#define TESTING_APISERVER_SERVER_CORE_H_

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

// What every ServerCore accepts as the administrator's bearer token, in system:masters.
inline constexpr char kAdminToken[] = "admin-of-the-double";

struct ServerOptions {
  uint64_t seed = 1;
  Store::Options store;
  WatchOptions watch;
  AccessOptions access;
  // Objects (JSON, with apiVersion and kind) that exist from the start, beside the namespaces
  // default, kube-node-lease, kube-public and kube-system and the roles of a fresh cluster. Of
  // definitions, what the double does not check (CEL) is named on stderr and passed over.
  std::vector<std::string> objects;
};

// Loop thread only.
class ServerCore {
 public:
  // `loop` outlives this.
  ServerCore(Loop& loop, ServerOptions options);
  // Cuts what is open.
  ~ServerCore();
  ServerCore(const ServerCore&) = delete;
  ServerCore& operator=(const ServerCore&) = delete;

  // Answers, now or later.
  void Serve(std::shared_ptr<Exchange> exchange);

  // Puts an object in, unseen by access control and admission; its kind must be known.
  absl::Status Load(const std::string& json);

  Core& core() { return core_; }
  Store& store() { return core_.store; }
  Access& access() { return access_; }
  Faults& faults() { return faults_; }

  struct Stats {
    size_t requests = 0;                    // ever, watches too
    size_t open = 0;                        // not yet answered, or streaming
    size_t watches = 0;                     // of those, watches
    std::map<std::string, size_t> by_verb;  // as authorization has it: "list", "watch"
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
  Handler handler_;  // all filters and what is behind them
  std::unique_ptr<Resources> resources_;
  size_t requests_ = 0;
  std::map<std::string, size_t> by_verb_;
  std::vector<std::weak_ptr<Exchange>> open_;  // and some that are closed
  size_t sweep_at_ = 64;
};

}  // namespace mandate::apiserver

#endif  // TESTING_APISERVER_SERVER_CORE_H_
