#include "manager/identity/identity_registry.h"

#include "absl/strings/str_join.h"
#include "manager/core/status_macros.h"
#include "manager/core/strings.h"
#include "manager/identity/token_requester.h"
#include "manager/kubeconfig/exec_token_fetcher.h"
#include "manager/object/names.h"

namespace mandate {
namespace {

prometheus::Counter& BoundCounter(Metrics& metrics, const Labels& labels) {
  return metrics.Counter("mandate_token_limit_reached_total",
                         "Number of times that a limit of the token sources was reached", labels);
}

// `labels`: of the cluster.
LimiterMetrics SeriesOf(Metrics* metrics, const Labels& labels) {
  if (metrics == nullptr) return {};
  Labels limit = labels;
  limit["limit"] = "requests";
  return {.in_flight = &metrics->Gauge("mandate_token_requests_in_flight",
                                       "Token requests in flight, for all identities", labels),
          .waiting = &metrics->Gauge("mandate_token_requests_queue",
                                     "Token requests waiting in the queue", labels),
          .had_to_wait = &BoundCounter(*metrics, limit)};
}

// Names the operating system and the processor as Go does ("linux/amd64"), as the user agents of
// other Kubernetes clients do. `component` is empty for base.
std::string UserAgent(std::string_view base_name, std::string_view version,
                      std::string_view component) {
#if defined(__x86_64__)
  constexpr std::string_view kArch = "amd64";
#elif defined(__aarch64__)
  constexpr std::string_view kArch = "arm64";
#else
#error "add this processor's GOARCH name"
#endif
  std::string agent = StrCat(base_name, "/", version, " (linux/", kArch, ")");
  if (!component.empty()) StrAppend(&agent, " ", component);
  return agent;
}

}  // namespace

struct IdentityRegistry::Cluster {
  std::string name;
  std::shared_ptr<const Endpoint> endpoint;       // for components: without a client certificate
  std::shared_ptr<const Endpoint> base_endpoint;  // with base's client certificate, if there is one
  std::unique_ptr<TokenSource> base_tokens;       // null: base uses the certificate
  std::unique_ptr<BaseIdentity> base;
  std::vector<std::string> components;
  // Its own, because a server that answers nothing holds its places until the requests end.
  std::shared_ptr<FetchLimiter> limiter;
};

absl::StatusOr<std::unique_ptr<IdentityRegistry>> IdentityRegistry::Create(Options options) {
  if (options.loop == nullptr || options.transport == nullptr) {
    return absl::InvalidArgumentError("the identity registry needs a loop and a transport");
  }
  if (absl::Status s = CheckDnsLabel(options.ns); !s.ok()) {
    return absl::InvalidArgumentError(
        StrCat("the manager's namespace: ", AsStd(s.message()), "; use --namespace"));
  }
  if (options.version.empty()) {
    return absl::InvalidArgumentError("the identity registry needs the program's version");
  }
  std::unique_ptr<IdentityRegistry> registry(new IdentityRegistry(std::move(options)));
  for (const Options::OfCluster& cluster : registry->options_.clusters) {
    RETURN_IF_ERROR(registry->AddCluster(cluster));
  }
  return registry;
}

IdentityRegistry::IdentityRegistry(Options options) : options_(std::move(options)) {}

IdentityRegistry::~IdentityRegistry() = default;

absl::Status IdentityRegistry::AddCluster(const Options::OfCluster& options) {
  const ClusterConfig& config = options.config;
  auto cluster = std::make_unique<Cluster>();
  cluster->name = config.name;
  const Labels further = clusters_.empty() ? Labels() : Labels{{"cluster", config.name}};
  cluster->limiter = std::make_shared<FetchLimiter>(options_.max_token_requests,
                                                    SeriesOf(options_.metrics, further));
  Endpoint plain = config.endpoint;
  plain.client_certificate.reset();
  cluster->endpoint = std::make_shared<const Endpoint>(std::move(plain));
  cluster->base_endpoint = cluster->endpoint;
  if (const auto* file = std::get_if<TokenFile>(&config.base)) {
    cluster->base_tokens = std::make_unique<FileTokenSource>(
        FileTokenSource::Options{.loop = options_.loop,
                                 .path = file->path,
                                 .reader = options_.reader,
                                 .on_new = BaseNews(config.name)});
  } else if (const auto* fixed = std::get_if<StaticToken>(&config.base)) {
    if (fixed->token == nullptr || fixed->token->empty()) {
      return absl::InvalidArgumentError(
          StrCat("cluster ", config.name, " has an empty token for the manager's own identity"));
    }
    cluster->base_tokens = std::make_unique<StaticTokenSource>(
        *options_.loop, fixed->token, StrCat("the token of cluster ", config.name));
  } else if (const auto* plugin = std::get_if<ExecPlugin>(&config.base)) {
    ASSIGN_OR_RETURN(cluster->base_tokens, NewPluginTokens(*cluster, *plugin));
  } else {
    Endpoint certified = *cluster->endpoint;
    certified.client_certificate = std::get<ClientCertificate>(config.base);
    cluster->base_endpoint = std::make_shared<const Endpoint>(std::move(certified));
  }
  Identity::Parts parts{.cluster = cluster->name,
                        .name = "base",
                        .username = "",
                        .user_agent = UserAgent(options_.service_account, options_.version, ""),
                        .endpoint = cluster->base_endpoint,
                        .tokens = cluster->base_tokens.get()};
  cluster->base.reset(new BaseIdentity(std::move(parts)));
  cluster->components = options.components;
  const auto [at, added] = clusters_.emplace(config.name, std::move(cluster));
  if (!added) {
    return absl::InvalidArgumentError(StrCat("cluster \"", config.name, "\" is given twice"));
  }
  for (const std::string& name : options.components) {
    RETURN_IF_ERROR(AddComponent(*at->second, name));
  }
  return absl::OkStatus();
}

absl::StatusOr<std::unique_ptr<CachingTokenSource>> IdentityRegistry::NewPluginTokens(
    const Cluster& cluster, const ExecPlugin& plugin) {
  Executor* workers = options_.plugin_workers;
  if (workers == nullptr) {
    plugin_threads_.push_back(std::make_unique<ThreadPool>(1));
    workers = plugin_threads_.back().get();
  }
  return CachingTokenSource::Create(
      {
          .loop = options_.loop,
          .fetcher = std::make_unique<ExecTokenFetcher>(
              ExecTokenFetcher::Options{.loop = options_.loop,
                                        .workers = workers,
                                        .plugin = plugin,
                                        .endpoint = cluster.endpoint,
                                        .accept = options_.accept_certificate,
                                        .run = options_.run,
                                        .log = options_.log.With("cluster", cluster.name)}),
          // A counter of its own: token requests hold their slots while they wait for base.
          .limiter = std::make_shared<FetchLimiter>(1),
          .identity = StrCat(cluster.name, "/base"),
          .subject = StrCat("the manager's own identity, by ", plugin.command),
          .seed = options_.seed + clusters_.size(),
          .fetch_timeout = options_.exec_plugin_timeout,
          .waiters = WaitersOf(cluster.name, "base"),
          .on_fetch =
              [count = FetchCounter(cluster.name, "base"),
               tell = BaseNews(cluster.name)](FetchOutcome outcome) {
                if (count) count(outcome);
                if (tell && outcome == FetchOutcome::kIssued) tell();
              },
      });
}

absl::Status IdentityRegistry::AddComponent(const Cluster& cluster, const std::string& name) {
  if (absl::Status s = CheckDnsLabel(name); !s.ok() || name == "base") {
    return absl::InvalidArgumentError(
        StrCat("\"", name, "\" cannot name a component: ",
               s.ok() ? "it is the manager's own identity" : AsStd(s.message())));
  }
  const Key key(cluster.name, name);
  if (components_.contains(key)) {
    return absl::InvalidArgumentError(StrCat("component ", name, " is given twice"));
  }
  const std::string account = StrCat(options_.service_account, "-", name);
  Identity::Parts parts{
      .cluster = cluster.name,
      .name = name,
      .username = StrCat("system:serviceaccount:", options_.ns, ":", account),
      .user_agent = UserAgent(options_.service_account, options_.version, name),
      .endpoint = cluster.endpoint,
      .tokens = cluster.base_tokens.get(),
  };
  auto identity = std::make_shared<ComponentIdentity*>(nullptr);
  switch (options_.mode) {
    case IdentityMode::kToken: {
      ASSIGN_OR_RETURN(auto tokens, NewTokens(cluster, name, account, identity));
      parts.tokens = tokens.get();
      tokens_[key] = std::move(tokens);
      break;
    }
    case IdentityMode::kImpersonate:
      // The server adds the groups of a ServiceAccount itself.
      parts.headers.emplace_back("Impersonate-User", parts.username);
      parts.endpoint = cluster.base_endpoint;
      break;
    case IdentityMode::kSingle:
      parts.username.clear();
      parts.endpoint = cluster.base_endpoint;
      break;
  }
  std::unique_ptr<ComponentIdentity> component(
      new ComponentIdentity(std::move(parts), options_.ns, account));
  *identity = component.get();
  components_[key] = std::move(component);
  return absl::OkStatus();
}

absl::StatusOr<std::unique_ptr<CachingTokenSource>> IdentityRegistry::NewTokens(
    const Cluster& cluster, const std::string& name, const std::string& service_account,
    std::shared_ptr<ComponentIdentity*> identity) {
  ASSIGN_OR_RETURN(auto requester,
                   TokenRequester::Create({
                       .loop = options_.loop,
                       .transport = options_.transport,
                       .base = cluster.base_tokens.get(),
                       .endpoint = cluster.base_endpoint,
                       .user_agent = cluster.base->user_agent(),
                       .ns = options_.ns,
                       .service_account = service_account,
                       .base_service_account = options_.service_account,
                       .expiration = options_.token_expiration,
                       .audiences = options_.audiences,
                       .bound_secret = options_.bind_to_secrets ? service_account : std::string(),
                       .create_service_account = options_.create_service_accounts,
                   }));
  CachingTokenSource::Options options{
      .loop = options_.loop,
      .fetcher = std::move(requester),
      .limiter = cluster.limiter,
      .identity = StrCat(cluster.name, "/", name),
      .subject = StrCat("system:serviceaccount:", options_.ns, ":", service_account),
      .seed = options_.seed + tokens_.size(),
      .waiters = WaitersOf(cluster.name, name),
      .on_fetch = FetchCounter(cluster.name, name),
  };
  if (options_.listener) {
    options.listener = [this, identity](const TokenStatus& status) {
      options_.listener(**identity, status);
    };
  }
  return CachingTokenSource::Create(std::move(options));
}

std::function<void()> IdentityRegistry::BaseNews(const std::string& cluster) const {
  if (!options_.on_new_base_token) return nullptr;
  return [this, cluster] { options_.on_new_base_token(cluster); };
}

std::function<void(FetchOutcome)> IdentityRegistry::FetchCounter(const std::string& cluster,
                                                                 const std::string& name) const {
  if (options_.metrics == nullptr) return nullptr;
  return [metrics = options_.metrics, cluster, name](FetchOutcome outcome) {
    metrics
        ->Counter("mandate_token_requests_total", "Token requests by base, by outcome.",
                  {{"cluster", cluster},
                   {"identity", name},
                   {"outcome", std::string(FetchOutcomeName(outcome))}})
        .Increment();
  };
}

WaiterMetrics IdentityRegistry::WaitersOf(const std::string& cluster,
                                          const std::string& name) const {
  if (options_.metrics == nullptr) return {};
  return {
      .waiting = &options_.metrics->Gauge("mandate_token_waiters", "Callers waiting for a token",
                                          {{"cluster", cluster}, {"identity", name}}),
      .rejected = &BoundCounter(*options_.metrics,
                                {{"limit", "waiters"}, {"cluster", cluster}, {"identity", name}})};
}

absl::StatusOr<ComponentIdentity*> IdentityRegistry::Component(std::string_view cluster,
                                                               std::string_view name) const {
  if (name.empty()) {
    return absl::InvalidArgumentError(
        "a component without a name has no identity: name it with // +mandate:component:name=…");
  }
  const auto at = components_.find(Key(cluster, name));
  if (at != components_.end()) return at->second.get();
  const auto known = clusters_.find(cluster);
  if (known == clusters_.end()) {
    return absl::NotFoundError(StrCat("unknown cluster \"", cluster, "\""));
  }
  return absl::NotFoundError(StrCat("unknown component \"", name,
                                    "\"; known: ", absl::StrJoin(known->second->components, ", ")));
}

absl::StatusOr<BaseIdentity*> IdentityRegistry::Base(const BaseAccess&,
                                                     std::string_view cluster) const {
  const auto at = clusters_.find(cluster);
  if (at == clusters_.end()) {
    return absl::NotFoundError(StrCat("unknown cluster \"", cluster, "\""));
  }
  return at->second->base.get();
}

void IdentityRegistry::Start() {
  for (auto& [key, tokens] : tokens_) tokens->Start();
}

TokenStatus IdentityRegistry::Status(const ComponentIdentity& identity) const {
  const auto tokens = tokens_.find(Key(identity.cluster(), identity.name()));
  if (tokens != tokens_.end()) return tokens->second->status();
  TokenStatus status{
      .state = TokenStatus::State::kValid, .usable = true, .expires = absl::InfiniteFuture()};
  if (identity.tokens() != nullptr && identity.tokens()->Cached() == nullptr) {
    status.state = TokenStatus::State::kDegraded;
    status.usable = false;
    status.last_error =
        absl::UnavailableError("the manager's own token is missing: see --kubeconfig");
  }
  return status;
}

}  // namespace mandate
