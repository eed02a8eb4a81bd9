#include "testing/conformance/double/double_target.h"

#include <string>
#include <utility>

#include "absl/strings/numbers.h"
#include "manager/core/mutex.h"
#include "manager/core/status_macros.h"
#include "manager/core/strings.h"
#include "testing/apiserver/api_server.h"

namespace mandate::conformance {

struct DoubleTarget::Parts {
  Mutex mutex;
  std::string log ABSL_GUARDED_BY(mutex);
  std::unique_ptr<apiserver::ApiServer> server;
};

DoubleTarget::DoubleTarget(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {
  target_.connection.server = parts_->server->url();
  target_.connection.ca_pem = parts_->server->ca_pem();
  target_.is_double = true;
  target_.token = apiserver::kAdminToken;
  target_.audit_log = [parts = parts_.get()] {
    MutexLock lock(parts->mutex);
    return std::exchange(parts->log, "");
  };
  target_.compact = [parts = parts_.get()](const std::string& version) -> absl::Status {
    int64_t revision = 0;
    if (!absl::SimpleAtoi(version, &revision)) {
      return absl::InvalidArgumentError(StrCat("no resourceVersion: ", version));
    }
    parts->server->OnLoop([&](apiserver::ServerCore& core) { core.store().Compact(revision); });
    return absl::OkStatus();
  };
  target_.restart_etcd = [parts = parts_.get()] {
    parts->server->OnLoop([](apiserver::ServerCore& core) { core.store().Reconnect(); });
    return absl::OkStatus();
  };
  target_.uncached = true;
  target_.owner_permissions = true;
}

DoubleTarget::~DoubleTarget() = default;

absl::StatusOr<std::unique_ptr<DoubleTarget>> DoubleTarget::Create() {
  auto parts = std::make_unique<Parts>();
  apiserver::ServerOptions options;
  options.access.audit_sink = [parts = parts.get()](std::string line) {
    MutexLock lock(parts->mutex);
    StrAppend(&parts->log, line, "\n");
  };
  options.watch.uncached = {"podtemplates"};
  ASSIGN_OR_RETURN(parts->server, apiserver::ApiServer::Create(std::move(options)));
  parts->server->OnLoop(
      [](apiserver::ServerCore& core) { core.store().Compact(core.store().revision()); });
  return std::unique_ptr<DoubleTarget>(new DoubleTarget(std::move(parts)));
}

}  // namespace mandate::conformance
