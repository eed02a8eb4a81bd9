#include "testing/apiserver/server_core.h"

#include <jsoncpp/json/json.h>

#include <utility>

#include "manager/core/status_macros.h"
#include "manager/core/strings.h"
#include "manager/object/json.h"
#include "testing/apiserver/discovery.h"
#include "testing/apiserver/errors.h"
#include "testing/apiserver/kind_rules.h"
#include "testing/apiserver/object_io.h"
#include "testing/apiserver/object_meta.h"

namespace mandate::apiserver {
namespace {

AccessOptions WithAdmin(AccessOptions options) {
  User admin;
  admin.name = "admin";
  admin.groups = {std::string(rbac::kMastersGroup)};
  options.fixed_tokens.emplace(kAdminToken, std::move(admin));
  return options;
}

// Warns about rules that the double does not check, so that a passing test does not mislead.
void WarnOfWhatIsNotChecked(const Json::Value& object) {
  const absl::Status status = Definitions::Check(object);
  if (status.ok()) return;
  const std::string message(status.message());
  std::fprintf(stderr, "warning: %s is loaded anyway: %s\n", MetaString(object, "name").c_str(),
               message.c_str());
}

}  // namespace

ServerCore::ServerCore(Loop& loop, ServerOptions options)
    : loop_(loop),
      core_(loop, options.seed, options.store),
      access_(WithAdmin(std::move(options.access)), core_.store, loop),
      faults_(loop, options.seed),
      definitions_(core_),
      upkeep_(core_) {
  core_.watch = options.watch;
  Plugin plugin = access_.plugin();
  core_.hooks = plugin.hooks;
  resources_ = std::make_unique<Resources>(core_, std::move(plugin.resources));
  handler_ = [this](const std::shared_ptr<Exchange>& exchange) { Dispatch(exchange); };
  for (auto filter = plugin.filters.rbegin(); filter != plugin.filters.rend(); ++filter) {
    handler_ = [filter = *filter, next = handler_](std::shared_ptr<Exchange> exchange) {
      filter(std::move(exchange), next);
    };
  }
  for (const char* name : {"default", "kube-node-lease", "kube-public", "kube-system"}) {
    plugin.seed.push_back(
        StrCat(R"({"apiVersion":"v1","kind":"Namespace","metadata":{"name":")", name, R"("}})"));
  }
  for (const std::string& json : options.objects) plugin.seed.push_back(json);
  for (const std::string& json : plugin.seed) {
    if (const absl::Status status = Load(json); !status.ok()) {
      std::fprintf(stderr, "the double cannot load %s: %s\n", json.c_str(),
                   status.ToString().c_str());
      std::abort();
    }
  }
  // A new server has no history.
  core_.store.Compact(core_.store.revision());
}

ServerCore::~ServerCore() {
  for (const auto& weak : open_) {
    if (const auto exchange = weak.lock()) exchange->Abort();
  }
}

absl::Status ServerCore::Load(const std::string& json) {
  ASSIGN_OR_RETURN(const Json::Value parsed, ParseJson(json));
  const auto type = core_.kinds.OfKind(StringAt(parsed, "apiVersion"), StringAt(parsed, "kind"));
  if (type == nullptr) {
    return absl::NotFoundError(
        StrCat("no kind ", StringAt(parsed, "apiVersion"), " ", StringAt(parsed, "kind")));
  }
  ASSIGN_OR_RETURN(Json::Value object, Normalise(parsed, *type));
  if (type->kind == "CustomResourceDefinition") WarnOfWhatIsNotChecked(object);
  SetDefaults(*type, object);
  const Json::Value status = object["status"];
  PrepareForCreate(*type, object);
  if (!status.isNull()) object["status"] = status;
  Json::Value& metadata = MutableMetadata(object);
  if (MetaString(object, "uid").empty()) metadata["uid"] = core_.NewUid();
  if (MetaString(object, "creationTimestamp").empty()) metadata["creationTimestamp"] = core_.Now();
  core_.store.Put(type->name, std::move(object));
  return absl::OkStatus();
}

void ServerCore::Serve(std::shared_ptr<Exchange> exchange) {
  exchange->request().received = loop_.clock().TimeNow();
  ++requests_;
  ++by_verb_[exchange->request().attributes.verb];
  if (open_.size() >= sweep_at_) {
    std::erase_if(open_, [](const auto& weak) {
      const auto one = weak.lock();
      return one == nullptr || one->closed();
    });
    sweep_at_ = 2 * open_.size() + 64;
  }
  open_.push_back(exchange);
  exchange->OnAnswer([](Response& response) {
    response.headers.emplace_back("cache-control", "no-cache, private");
  });
  faults_.Meet(std::move(exchange), handler_);
}

void ServerCore::Dispatch(const std::shared_ptr<Exchange>& exchange) {
  if (exchange->request().attributes.is_resource_request) {
    resources_->Handle(exchange);
  } else {
    AnswerPath(core_, resources_->virtual_resources(), *exchange);
  }
}

ServerCore::Stats ServerCore::stats() {
  Stats stats{.requests = requests_, .open = 0, .watches = 0, .by_verb = by_verb_};
  for (const auto& weak : open_) {
    const auto exchange = weak.lock();
    if (exchange == nullptr || exchange->closed()) continue;
    ++stats.open;
    if (exchange->request().attributes.verb == "watch") ++stats.watches;
  }
  return stats;
}

}  // namespace mandate::apiserver
