// Tokens that a kubeconfig's exec plugin prints.
#pragma once

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

// Runs the plugin once per Fetch(), on a thread of `workers`, and kills it when the context of the
// fetch ends. The plugin's standard error is logged and added to the error, without what looks like
// a credential. A token's life is the plugin's expiry by the wall clock, counted on the monotonic
// clock; it is endless without an expiry. Loop thread only.
class ExecTokenFetcher : public TokenFetcher {
 public:
  struct Options {
    Loop* loop = nullptr;
    // Outlives the fetcher, like the loop. The loop also outlives the tasks on the workers.
    Executor* workers = nullptr;
    ExecPlugin plugin = {};
    // The endpoint for connections with a client certificate that the plugin prints.
    std::shared_ptr<const Endpoint> endpoint = {};
    // Whether such a certificate may be used. Unset: it may.
    std::function<absl::Status(const ClientCertificate&)> accept = {};
    ChildRunner run = {};  // tests replace it
    Logger log = {};
  };

  explicit ExecTokenFetcher(Options options);
  ~ExecTokenFetcher() override = default;

  // kPluginFailed: the plugin cannot be run, failed, timed out, or printed no usable credential.
  // The error names the command and the next step.
  void Fetch(const CallContext& context, Done done) override;

 private:
  static FetchResult Run(const Options& options, const CallContext& context);

  // Shared with the tasks on the workers.
  const std::shared_ptr<const Options> options_;
};

}  // namespace mandate
