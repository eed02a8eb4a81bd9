#include "testing/simulation/scope/product.h"

#include <utility>

#include "manager/core/strings.h"
#include "manager/core/testing/must.h"
#include "manager/preflight.h"
#include "testing/simulation/scope/components.h"

namespace mandate::simulation {
namespace {

constexpr char kHome[] = "home";

}  // namespace

Product::Product(Options options) : options_(std::move(options)) {
  BuildIdentities();
  BuildComponents();
  BuildPreflights();
}

Product::~Product() {
  preflights_.clear();
  by_name_.clear();
  components_.clear();
  cache_.reset();
  recorders_.clear();
  clients_.clear();
  identities_.reset();
}

void Product::Start() {
  identities_->Start();
  for (const auto& preflight : preflights_) preflight->Start();
  for (const auto& component : components_) component->StartControllers();
}

bool Product::Stop(absl::Time deadline) {
  bool stopped = true;
  for (const auto& component : components_) component->RequestStop();
  for (const auto& component : components_) {
    stopped = component->StopControllers(deadline).ok() && stopped;
  }
  return stopped;
}

void Product::BuildIdentities() {
  IdentityRegistry::Options plane;
  plane.loop = &options_.loop;
  plane.transport = &options_.transport;
  ClusterConfig cluster{
      .name = kHome, .endpoint = {}, .base = TokenFile{"/token"}, .ns = options_.ns};
  cluster.endpoint = options_.endpoint;
  plane.clusters = {{cluster, {}}};
  plane.ns = options_.ns;
  plane.version = "1";
  plane.seed = options_.seed;
  plane.metrics = &metrics_;
  plane.reader = [token = options_.base_token](const std::string&) { return token; };
  for (const ComponentSpec& spec : ScopeComponents())
    plane.clusters[0].components.emplace_back(spec.mandate->component);
  plane.listener = [this](const ComponentIdentity& identity, const TokenStatus& status) {
    const auto found = by_name_.find(identity.name());
    if (found != by_name_.end()) found->second->OnTokenStatus(status);
  };
  identities_ = Must(IdentityRegistry::Create(std::move(plane)));
}

void Product::BuildComponents() {
  Cache::Options cache{.loop = options_.loop, .metrics = metrics_};
  cache.seed = options_.seed;
  cache_ = Must(Cache::Create(std::move(cache)));
  for (const ComponentSpec& spec : ScopeComponents()) {
    const std::string_view name = spec.mandate->component;
    ComponentClient::Options client;
    client.loop = &options_.loop;
    client.transport = &options_.transport;
    client.identity = Must(identities_->Component(kHome, name));
    client.mandate = spec.mandate;
    client.seed = options_.seed + clients_.size();
    client.metrics = &metrics_;
    client.on_forbidden = [this, name] {
      for (const auto& preflight : preflights_) {
        if (preflight->component() == name) preflight->Recheck();
      }
    };
    clients_.push_back(Must(ComponentClient::Create(std::move(client))));
    recorders_.push_back(Must(RestEventRecorder::Create({.client = clients_.back().get(),
                                                         .instance = "simulated",
                                                         .metrics = &metrics_,
                                                         .seed = options_.seed})));
    components_.push_back(Must(RunningComponent::Create(spec, {.client = *clients_.back(),
                                                               .events = *recorders_.back(),
                                                               .cache = *cache_,
                                                               .workers = options_.workers,
                                                               .metrics = metrics_,
                                                               .log = {},
                                                               .seed = options_.seed,
                                                               .has_token = true})));
    by_name_[std::string(name)] = components_.back().get();
  }
}

void Product::BuildPreflights() {
  for (const auto& component : components_) {
    const ComponentIdentity& identity = *Must(identities_->Component(kHome, component->name()));
    PreflightLoop::Options preflight;
    preflight.loop = &component->client().loop();
    preflight.workers = &options_.workers;
    preflight.component = std::string(component->name());
    preflight.check =
        PreflightCheck(component->client(), {.mandate = &component->mandate(),
                                             .username = identity.username(),
                                             .ns = identity.ns(),
                                             .service_account = identity.service_account()});
    preflight.seed = options_.seed;
    preflight.metrics = &metrics_;
    preflight.report = [running = component.get()](absl::Status found) {
      running->OnPreflight(std::move(found));
    };
    preflights_.push_back(std::make_unique<PreflightLoop>(std::move(preflight)));
  }
}

absl::Status Product::Ready() const {
  for (const auto& component : components_) {
    if (absl::Status ready = component->Ready(); !ready.ok()) {
      return absl::Status(ready.code(), StrCat(component->name(), ": ", AsStd(ready.message())));
    }
  }
  return absl::OkStatus();
}

}  // namespace mandate::simulation
