// Tokens that a kubeconfig's exec plugin prints.
#ifndef MANAGER_KUBECONFIG_EXEC_TOKEN_FETCHER_H_
#define MANAGER_KUBECONFIG_EXEC_TOKEN_FETCHER_H_

#include <functional>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "manager/core/executor.h"
#include "manager/core/log.h"
#include "manager/kubeconfig/child_process.h"
#include "manager/kubeconfig/exec_plugin.h"
#include "manager/kubeconfig/token_fetcher.h"
#include "manager/transport/transport.h"

namespace mandate {

// Runs the plugin once per Fetch(), on a thread of `workers`; it is killed when the context of the
// fetch ends. What it writes to standard error is logged, and part of the error, without what looks
// like a credential. A token's life is what the plugin says of the wall clock, counted on the
// monotonic one; without a word of it, endless. Loop thread only.
class ExecTokenFetcher : public TokenFetcher {
 public:
  struct Options {
    Loop* loop = nullptr;
    Executor* workers = nullptr;  // both outlive the fetcher; the loop, what runs on the workers
    ExecPlugin plugin = {};
    // Where a client certificate that the plugin prints is shown.
    std::shared_ptr<const Endpoint> endpoint = {};
    // Whether such a certificate may be used; none: it may.
    std::function<absl::Status(const ClientCertificate&)> accept = {};
    ChildRunner run = {};  // RunChild, but for tests
    Logger log = {};
  };

  explicit ExecTokenFetcher(Options options);
  ~ExecTokenFetcher() override = default;

  // kPluginFailed: it cannot be run, did not end well or in time, or printed no credential that can
  // be used; the error names the command and says what to do.
  void Fetch(const CallContext& context, Done done) override;

 private:
  static FetchResult Run(const Options& options, const CallContext& context);

  // Shared with what runs.
  const std::shared_ptr<const Options> options_;
};

}  // namespace mandate

#endif  // MANAGER_KUBECONFIG_EXEC_TOKEN_FETCHER_H_
