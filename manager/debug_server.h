// The debug listener: what the queues and the watches of the process do right now.
//
//   /debug/queues   each controller's work queue, and its requests
//   /debug/watches  each component of each watched scope, and the state of its watch
//
// Both are tables; JSON with "Accept: application/json" or ?format=json. ?component=NAME shows one
// component, ?limit=N at most N requests of each queue, or N watches.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "manager/cache/cache.h"
#include "manager/controller/controller.h"
#include "manager/core/executor.h"
#include "manager/core/log.h"
#include "manager/core/metrics.h"
#include "manager/serving/http_server.h"

namespace mandate {

// OK if a debug listener may have this address: only this machine reaches it, because the pages
// need no authentication. Otherwise kInvalidArgument with the next step.
absl::Status CheckDebugAddress(const std::string& address);

// The pages name objects, but have none of their content, no text of the server's and no
// credential. Thread-safe.
class DebugServer {
 public:
  struct Options {
    std::string address;  // "host:port"; port 0: any free one
    // The controllers, the caches, the loop and the metrics outlive this. The caches also outlive
    // the tasks that the loop has at the end of this.
    std::vector<const Controller*> controllers = {};
    std::vector<const Cache*> caches = {};  // one for each cluster
    Loop* loop = nullptr;
    Metrics* metrics = nullptr;
    Logger log = {};
  };

  // kInvalidArgument, kUnavailable: CheckDebugAddress(), or the server cannot listen there.
  static absl::StatusOr<std::unique_ptr<DebugServer>> Create(Options options);

  // The address with the actual port.
  const std::string& address() const { return server_->address(); }

 private:
  explicit DebugServer(std::unique_ptr<HttpServer> server) : server_(std::move(server)) {}

  const std::unique_ptr<HttpServer> server_;
};

}  // namespace mandate
