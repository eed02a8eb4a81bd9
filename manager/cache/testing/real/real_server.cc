#include "manager/cache/testing/real/real_server.h"

#include <array>
#include <optional>
#include <utility>
#include <variant>

#include "manager/cache/testing/watch_json.h"
#include "manager/client/response_error.h"
#include "manager/core/status_macros.h"
#include "manager/core/strings.h"
#include "manager/kubeconfig/kubeconfig.h"

namespace mandate::model {
namespace {

constexpr std::array<std::string_view, 2> kVerbs = {"list", "watch"};
constexpr std::array<std::string_view, 1> kGroups = {kWidget.group};
constexpr std::array<std::string_view, 1> kPlurals = {kWidget.plural};
constexpr std::array<rbac::MandateRule, 1> kRules = {
    {{{kVerbs, kGroups, kPlurals, {}, {}}, "", false}}};

// A chain of tasks of the cache, each of which posts the next one, is shorter.
constexpr int kLongestChain = 32;
// A condition may also depend on time.
constexpr absl::Duration kLook = absl::Milliseconds(20);

}  // namespace

absl::StatusOr<std::unique_ptr<RealServer>> RealServer::Create(Options options) {
  auto server = std::unique_ptr<RealServer>(new RealServer(std::move(options)));
  ASSIGN_OR_RETURN(server->loop_, EventLoop::Create());
  ASSIGN_OR_RETURN(server->transport_, HttpTransport::Create(*server->loop_, {}));
  absl::Status built;
  server->OnLoop([&] { built = server->Build(); });
  RETURN_IF_ERROR(built);
  return server;
}

absl::Status RealServer::Build() {
  ASSIGN_OR_RETURN(ClusterConfig cluster, LoadKubeconfig({options_.kubeconfig}));
  const auto* const certificate = std::get_if<ClientCertificate>(&cluster.base);
  if (certificate == nullptr) {
    return absl::InvalidArgumentError(StrCat(options_.kubeconfig, " has no client certificate"));
  }
  Endpoint admin = cluster.endpoint;
  admin.client_certificate = *certificate;
  admin_ = std::make_shared<const Endpoint>(std::move(admin));
  if (!options_.server.empty()) cluster.endpoint.server = options_.server;
  IdentityRegistry::Options plane;
  plane.loop = loop_.get();
  plane.transport = transport_.get();
  plane.clusters = {{cluster, options_.components}};
  plane.ns = std::string(kAccounts);
  plane.version = "model";
  plane.metrics = &metrics_;
  ASSIGN_OR_RETURN(identities_, IdentityRegistry::Create(std::move(plane)));
  for (const std::string& name : options_.components) mandates_.push_back({name, kRules});
  for (size_t i = 0; i < mandates_.size(); ++i) {
    ASSIGN_OR_RETURN(ComponentIdentity * identity,
                     identities_->Component(cluster.name, mandates_[i].component));
    ASSIGN_OR_RETURN(auto client, ComponentClient::Create({.loop = loop_.get(),
                                                           .transport = transport_.get(),
                                                           .identity = identity,
                                                           .mandate = &mandates_[i],
                                                           .metrics = &metrics_}));
    helds_.push_back(std::make_unique<HeldClient>(*client, inlet_));
    held_.push_back(helds_.back().get());
    clients_.push_back(std::move(client));
  }
  identities_->Start();
  return absl::OkStatus();
}

RealServer::~RealServer() {
  if (loop_ == nullptr) return;
  OnLoop([this] {
    inlet_->Close();
    helds_.clear();
    clients_.clear();
    identities_.reset();
    transport_.reset();
  });
  loop_->Stop();
}

void RealServer::OnLoop(absl::FunctionRef<void()> task) {
  Latch done;
  loop_->Post([&] {
    task();
    done.Set();
  });
  done.Wait();
}

void RealServer::Drain() {
  for (int i = 0; i < kLongestChain; ++i) OnLoop([] {});
}

void RealServer::Hold() {
  if (holds_++ == 0) OnLoop([this] { inlet_->Hold(); });
  Drain();
}

void RealServer::Release() {
  if (--holds_ == 0) OnLoop([this] { inlet_->Release(); });
}

void RealServer::OnQuietLoop(absl::FunctionRef<void()> task) {
  Hold();
  OnLoop(task);
  Release();
}

void RealServer::WaitForNews(absl::Duration most) {
  Latch over;
  std::unique_ptr<Loop::Timer> timer;
  OnLoop([&] {
    inlet_->OnNews([&] { over.Set(); });
    timer = loop_->RunAt(loop_->clock().TimeNow() + most, [&] { over.Set(); });
  });
  over.Wait();
  OnLoop([&] {
    inlet_->OnNews(nullptr);
    timer.reset();
  });
}

bool RealServer::Await(absl::FunctionRef<bool()> holds, absl::Duration most) {
  const absl::Time deadline = loop_->clock().TimeNow() + most;
  while (true) {
    bool held = false;
    OnQuietLoop([&] { held = holds(); });
    if (held) return true;
    if (loop_->clock().TimeNow() > deadline) return false;
    WaitForNews(kLook);
  }
}

absl::Status RealServer::Ask(const std::string& method, const std::string& target,
                             const Json::Value& body,
                             const std::function<void(const Json::Value&)>& done) {
  Latch over;
  absl::Status status;
  HttpRequest request(admin_, EndpointCertificate{}, method, target);
  request.user_agent = "scoped-model";
  if (!body.isNull()) {
    request.content_type = "application/json";
    request.body = WriteJson(body);
  }
  Hold();
  OnLoop([&] {
    transport_->Call({.deadline = loop_->clock().TimeNow() + options_.patience, .stop = {}},
                     std::move(request), [&](absl::StatusOr<HttpResponse> response) {
                       status = response.status();
                       if (response.ok()) {
                         if (!IsSuccess(*response)) status = ErrorOf(*response);
                         const auto object = ParseJson(response->body);
                         if (status.ok() && !object.ok()) status = object.status();
                         if (status.ok() && done) done(*object);
                       }
                       over.Set();
                     });
  });
  over.Wait();
  Drain();
  Release();
  if (status.ok()) return status;
  return absl::Status(status.code(), StrCat(method, " ", target, ": ", AsStd(status.message())));
}

}  // namespace mandate::model
