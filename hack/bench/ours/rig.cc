#include "hack/bench/ours/rig.h"

#include <cstdint>
#include <utility>

#include "manager/core/status_macros.h"
#include "manager/core/strings.h"
#include "manager/kubeconfig/kubeconfig.h"
#include "manager/loop_call.h"

namespace mandate::bench {
namespace {

// B14's Pods exceed the default.
constexpr size_t kMaxWatchBytes = size_t{4} << 30;

}  // namespace

absl::StatusOr<std::unique_ptr<Rig>> Rig::Create(const Options& options) {
  auto rig = std::unique_ptr<Rig>(new Rig());
  ASSIGN_OR_RETURN(rig->loop_, EventLoop::Create());
  ASSIGN_OR_RETURN(rig->transport_, HttpTransport::Create(*rig->loop_, {}));
  RETURN_IF_ERROR(CallOnLoop(*rig->loop_, [&] { return rig->Build(options); }));
  return rig;
}

absl::Status Rig::Build(const Options& options) {
  for (int i = 0; i < options.components; ++i) names_.push_back(StrCat("bench-", i));
  for (const std::string& name : names_) mandates_.push_back({name, kReadRules});
  IdentityRegistry::Options plane;
  plane.loop = loop_.get();
  plane.transport = transport_.get();
  ASSIGN_OR_RETURN(const ClusterConfig cluster, LoadKubeconfig({options.kubeconfig}));
  plane.clusters = {{cluster, names_}};
  plane.ns = kNamespace;
  plane.version = "bench";
  plane.metrics = &metrics_;
  ASSIGN_OR_RETURN(identities_, IdentityRegistry::Create(std::move(plane)));
  Cache::Options cache{.loop = *loop_, .metrics = metrics_};
  cache.reflector.protobuf = !options.json;
  cache.reflector.watch_list = !options.list;
  cache.max_watch_bytes = kMaxWatchBytes;
  if (options.uncompressed) cache.packing.min_object_bytes = SIZE_MAX;
  if (options.cache != nullptr) options.cache(cache);
  ASSIGN_OR_RETURN(cache_, Cache::Create(std::move(cache)));
  for (size_t i = 0; i < names_.size(); ++i) {
    ASSIGN_OR_RETURN(ComponentIdentity * identity, identities_->Component(cluster.name, names_[i]));
    ASSIGN_OR_RETURN(auto client, ComponentClient::Create({.loop = loop_.get(),
                                                           .transport = transport_.get(),
                                                           .identity = identity,
                                                           .mandate = &mandates_[i],
                                                           .metrics = &metrics_}));
    views_.push_back(&cache_->AddComponent(*client, mandates_[i]));
    clients_.push_back(std::move(client));
  }
  identities_->Start();
  return absl::OkStatus();
}

void Rig::WaitFor(absl::Duration duration) {
  Latch over;
  const std::unique_ptr<Loop::Timer> timer = CallOnLoop(*loop_, [&] {
    return loop_->RunAt(loop_->clock().TimeNow() + duration, [&] { over.Set(); });
  });
  over.Wait();
}

void Rig::CloseWatches() {
  Latch closed;
  loop_->Post([&] { cache_->Close(absl::InfiniteFuture(), [&] { closed.Set(); }); });
  closed.Wait();
}

Rig::~Rig() {
  CallOnLoop(*loop_, [this] {
    cache_.reset();
    clients_.clear();
    identities_.reset();
    transport_.reset();
  });
  loop_->Stop();
}

}  // namespace mandate::bench
