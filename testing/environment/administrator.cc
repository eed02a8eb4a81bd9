#include "testing/environment/administrator.h"

#include <utility>

#include "manager/core/status_macros.h"
#include "manager/loop_call.h"

namespace mandate {

absl::StatusOr<std::unique_ptr<Administrator>> Administrator::Create(ClusterConfig cluster) {
  std::unique_ptr<Administrator> made(new Administrator());
  ASSIGN_OR_RETURN(made->loop_, EventLoop::Create({.thread_name = "administrator"}));
  ASSIGN_OR_RETURN(made->transport_, HttpTransport::Create(*made->loop_, {}));
  RETURN_IF_ERROR(CallOnLoop(*made->loop_, [&] { return made->Build(std::move(cluster)); }));
  return made;
}

absl::Status Administrator::Build(ClusterConfig cluster) {
  cluster.name = "home";
  IdentityRegistry::Options plane;
  plane.loop = loop_.get();
  plane.transport = transport_.get();
  plane.clusters = {{std::move(cluster), {std::string(kAdministrator.component)}}};
  plane.ns = "default";
  plane.version = "test";
  plane.mode = IdentityMode::kSingle;
  ASSIGN_OR_RETURN(identities_, IdentityRegistry::Create(std::move(plane)));
  ASSIGN_OR_RETURN(const ComponentIdentity* identity,
                   identities_->Component("home", kAdministrator.component));
  ASSIGN_OR_RETURN(client_, ComponentClient::Create({.loop = loop_.get(),
                                                     .transport = transport_.get(),
                                                     .identity = identity,
                                                     .mandate = &kAdministrator,
                                                     .metrics = &metrics_}));
  ASSIGN_OR_RETURN(cache_, Cache::Create({.loop = *loop_, .metrics = metrics_}));
  view_ = &cache_->AddComponent(*client_, kAdministrator);
  identities_->Start();
  return absl::OkStatus();
}

Administrator::~Administrator() {
  if (loop_ == nullptr) return;
  CallOnLoop(*loop_, [this] {
    cache_.reset();
    client_.reset();
    identities_.reset();
    transport_.reset();
  });
  loop_->Stop();
}

}  // namespace mandate
