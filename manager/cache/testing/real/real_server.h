// A real API server, with the clients of some components and with an administrator.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "manager/cache/testing/real/inlet.h"
#include "manager/client/component_client.h"
#include "manager/core/event_loop.h"
#include "manager/core/metrics.h"
#include "manager/identity/identity_registry.h"
#include "manager/object/json.h"
#include "manager/rbac/mandate.h"
#include "manager/transport/http_transport.h"

namespace mandate::model {

// The namespace of the components' ServiceAccounts, which are "mandate-manager-" and the name.
inline constexpr std::string_view kAccounts = "model";

// Owns the loop, on which the components and their cache live. Its functions are for the one thread
// of the program, unless they say otherwise.
class RealServer {
 public:
  struct Options {
    std::string kubeconfig;  // an administrator's, with a client certificate
    std::string server;      // the URL that the components use; empty: the kubeconfig's
    std::vector<std::string> components;
    absl::Duration patience = absl::Seconds(30);  // of each wait
  };
  static absl::StatusOr<std::unique_ptr<RealServer>> Create(Options options);
  ~RealServer();

  // Runs `task` on the loop, and waits for its end.
  void OnLoop(absl::FunctionRef<void()> task);
  // The same while nothing arrives, and after the cache has done all that it can do then.
  void OnQuietLoop(absl::FunctionRef<void()> task);
  // From Hold() to Release() nothing arrives.
  void Hold();
  void Release();

  // Waits until something arrives, but not for longer than this.
  void WaitForNews(absl::Duration most);
  // Waits until `holds`, which runs on the quiet loop, returns true, for `most` or the options'
  // patience. Returns whether it has.
  bool Await(absl::FunctionRef<bool()> holds, absl::Duration most);
  bool Await(absl::FunctionRef<bool()> holds) { return Await(holds, options_.patience); }

  // The administrator's request. `done` runs on the loop with the answer's object, before the
  // components can learn of its effect. Any code other than 2xx is an error.
  absl::Status Ask(const std::string& method, const std::string& target,
                   const Json::Value& body = Json::Value(),
                   const std::function<void(const Json::Value&)>& done = nullptr);

  // Loop thread only.
  const std::vector<RestClient*>& clients() const { return held_; }
  // Before the cache goes: the clients pass nothing on any more. Loop thread only.
  void Disconnect() { inlet_->Close(); }

  EventLoop& loop() { return *loop_; }
  absl::Duration patience() const { return options_.patience; }

 private:
  RealServer(Options options) : options_(std::move(options)) {}
  absl::Status Build();
  // Runs what is ready now, and what that makes ready.
  void Drain();

  const Options options_;
  Metrics metrics_;
  std::unique_ptr<EventLoop> loop_;
  std::unique_ptr<HttpTransport> transport_;
  std::shared_ptr<const Endpoint> admin_;
  std::vector<rbac::Mandate> mandates_;
  std::unique_ptr<IdentityRegistry> identities_;
  const std::shared_ptr<Inlet> inlet_ = std::make_shared<Inlet>();
  std::vector<std::unique_ptr<ComponentClient>> clients_;
  std::vector<std::unique_ptr<HeldClient>> helds_;
  std::vector<RestClient*> held_;
  int holds_ = 0;
};

}  // namespace mandate::model
