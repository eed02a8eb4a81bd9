#include "manager/telemetry/access_reviewer.h"

#include <stop_token>
#include <utility>

#include "manager/client/client.h"
#include "manager/core/mutex.h"
#include "manager/core/secret.h"
#include "manager/core/sha256.h"
#include "manager/core/status_macros.h"
#include "manager/core/strings.h"
#include "manager/object/kinds/authentication_v1.h"
#include "manager/object/kinds/authorization_v1.h"
#include "manager/telemetry/expiring_cache.h"

namespace mandate {
namespace {

using authenticationv1::TokenReview;
using authorizationv1::SubjectAccessReview;
using UserInfo = k8s::io::api::authentication::v1::UserInfo;

ServedResponse Rejection(int code, std::string text) {
  return {.code = code, .body = std::move(text) + "\n"};
}

SubjectAccessReview Question(const UserInfo& user, std::string_view verb, std::string_view path) {
  SubjectAccessReview review;
  auto* spec = review.mutable_spec();
  spec->set_user(user.username());
  spec->set_uid(user.uid());
  *spec->mutable_groups() = user.groups();
  for (const auto& [key, values] : user.extra()) {
    *(*spec->mutable_extra())[key].mutable_items() = values.items();
  }
  spec->mutable_nonresourceattributes()->set_verb(std::string(verb));
  spec->mutable_nonresourceattributes()->set_path(std::string(path));
  return review;
}

// The key of equal questions is equal. The length and the first letter of each part separate the
// parts.
std::string KeyOf(const SubjectAccessReview& review) {
  std::string key;
  const auto add = [&key](std::string_view part) { StrAppend(&key, part.size(), ":", part); };
  const auto& spec = review.spec();
  add(spec.user());
  add(spec.uid());
  for (const std::string& group : spec.groups()) add(StrCat("g", group));
  const std::map<std::string, k8s::io::api::authorization::v1::ExtraValue> extra(
      spec.extra().begin(), spec.extra().end());
  for (const auto& [name, values] : extra) {
    add(StrCat("e", name));
    for (const std::string& value : values.items()) add(StrCat("v", value));
  }
  add(spec.nonresourceattributes().verb());
  add(spec.nonresourceattributes().path());
  return Sha256({key});
}

}  // namespace

class AccessReviewer::Core {
 public:
  Core(const Options& options, Client<kMetricsAuth> client)
      : options_(options),
        clock_(options.client->loop().clock()),
        client_(client),
        users_(options.max_answers),
        decisions_(options.max_answers) {}

  struct Asked {
    std::string verb;
    std::string path;
    std::string digest;  // of the token
    std::shared_ptr<const Secret> token;
  };

  // The cached answer; nullopt if the API server must be asked.
  std::optional<std::optional<ServedResponse>> Known(const Asked& asked);
  std::optional<ServedResponse> Review(const Asked& asked);
  // Returns false if too many requests wait. The task keeps this object alive.
  bool Enqueue(std::function<void()> task);
  void Stop() { stop_.request_stop(); }
  void Count(const char* review, const char* outcome);

 private:
  using User = std::optional<UserInfo>;  // nullopt: the token is unknown

  absl::StatusOr<User> Authenticate(const CallContext& context, const Asked& asked);
  absl::StatusOr<bool> Authorize(const CallContext& context, const SubjectAccessReview& question);
  std::optional<User> KnownUser(const Asked& asked);
  std::optional<bool> KnownDecision(const std::string& key);
  static std::optional<ServedResponse> Answer(const UserInfo& user, bool allowed);

  const Options options_;
  const Clock& clock_;
  Client<kMetricsAuth> client_;
  std::stop_source stop_;
  Mutex mutex_;
  ExpiringCache<User> users_ ABSL_GUARDED_BY(mutex_);
  ExpiringCache<bool> decisions_ ABSL_GUARDED_BY(mutex_);
  size_t waiting_ ABSL_GUARDED_BY(mutex_) = 0;
};

void AccessReviewer::Core::Count(const char* review, const char* outcome) {
  options_.metrics
      ->Counter("mandate_access_reviews_total",
                "Access reviews of requests for /metrics, by outcome.",
                {{"review", review}, {"outcome", outcome}})
      .Increment();
}

bool AccessReviewer::Core::Enqueue(std::function<void()> task) {
  {
    MutexLock lock(mutex_);
    if (waiting_ >= options_.max_waiting) return false;
    ++waiting_;
  }
  options_.workers->Post([this, task = std::move(task)] {
    {
      MutexLock lock(mutex_);
      --waiting_;
    }
    task();
  });
  return true;
}

std::optional<AccessReviewer::Core::User> AccessReviewer::Core::KnownUser(const Asked& asked) {
  MutexLock lock(mutex_);
  const User* user = users_.Find(asked.digest, clock_.TimeNow());
  if (user == nullptr) return std::nullopt;
  return *user;
}

std::optional<bool> AccessReviewer::Core::KnownDecision(const std::string& key) {
  MutexLock lock(mutex_);
  const bool* decision = decisions_.Find(key, clock_.TimeNow());
  if (decision == nullptr) return std::nullopt;
  return *decision;
}

std::optional<ServedResponse> AccessReviewer::Core::Answer(const UserInfo& user, bool allowed) {
  if (allowed) return std::nullopt;
  return Rejection(403, StrCat("user ", user.username(), " may not read this path"));
}

std::optional<std::optional<ServedResponse>> AccessReviewer::Core::Known(const Asked& asked) {
  const std::optional<User> user = KnownUser(asked);
  if (!user.has_value()) return std::nullopt;
  if (!user->has_value()) return Rejection(401, "unauthorized");
  const auto decision = KnownDecision(KeyOf(Question(**user, asked.verb, asked.path)));
  if (!decision.has_value()) return std::nullopt;
  return Answer(**user, *decision);
}

absl::StatusOr<AccessReviewer::Core::User> AccessReviewer::Core::Authenticate(
    const CallContext& context, const Asked& asked) {
  if (std::optional<User> known = KnownUser(asked)) return *std::move(known);
  TokenReview review;
  review.mutable_spec()->set_token(std::string(asked.token->Reveal()));
  absl::StatusOr<TokenReview> answer = client_.Create(context, std::move(review));
  if (!answer.ok()) {
    Count("token", "error");
    return std::move(answer).status();
  }
  Count("token", answer->status().authenticated() ? "authenticated" : "rejected");
  User user;
  if (answer->status().authenticated()) user = answer->status().user();
  MutexLock lock(mutex_);
  users_.Put(asked.digest, user, clock_.TimeNow() + options_.token_ttl);
  return user;
}

absl::StatusOr<bool> AccessReviewer::Core::Authorize(const CallContext& context,
                                                     const SubjectAccessReview& question) {
  const std::string key = KeyOf(question);
  if (std::optional<bool> known = KnownDecision(key)) return *known;
  absl::StatusOr<SubjectAccessReview> answer = client_.Create(context, question);
  if (!answer.ok()) {
    Count("access", "error");
    return std::move(answer).status();
  }
  const bool allowed = answer->status().allowed();
  Count("access", allowed ? "allowed" : "denied");
  MutexLock lock(mutex_);
  decisions_.Put(key, allowed,
                 clock_.TimeNow() + (allowed ? options_.allowed_ttl : options_.denied_ttl));
  return allowed;
}

std::optional<ServedResponse> AccessReviewer::Core::Review(const Asked& asked) {
  const CallContext context{clock_.TimeNow() + options_.timeout, stop_.get_token()};
  const absl::StatusOr<User> user = Authenticate(context, asked);
  if (!user.ok()) {
    options_.log.Error("A token could not be reviewed", {{"reason", user.status()}});
    return Rejection(500, "authentication failed: the token could not be reviewed");
  }
  if (!user->has_value()) return Rejection(401, "unauthorized");
  const absl::StatusOr<bool> allowed = Authorize(context, Question(**user, asked.verb, asked.path));
  if (!allowed.ok()) {
    options_.log.Error("An access could not be reviewed",
                       {{"user", (*user)->username()}, {"reason", allowed.status()}});
    return Rejection(500, StrCat("authorization of user ", (*user)->username(), " failed"));
  }
  return Answer(**user, *allowed);
}

absl::StatusOr<std::unique_ptr<AccessReviewer>> AccessReviewer::Create(const Options& options) {
  ASSIGN_OR_RETURN(auto client, Client<kMetricsAuth>::Create(*options.client));
  return std::unique_ptr<AccessReviewer>(
      new AccessReviewer(std::make_shared<Core>(options, client)));
}

AccessReviewer::AccessReviewer(std::shared_ptr<Core> core) : core_(std::move(core)) {}
AccessReviewer::~AccessReviewer() { core_->Stop(); }

void AccessReviewer::Check(const AccessRequest& request,
                           std::function<void(std::optional<ServedResponse>)> answer) {
  if (request.bearer.empty()) return answer(Rejection(401, "unauthorized"));
  Core::Asked asked{.verb = std::string(request.verb),
                    .path = std::string(request.path),
                    .digest = Sha256({request.bearer}),
                    .token = nullptr};
  if (auto known = core_->Known(asked)) return answer(*std::move(known));
  asked.token = std::make_shared<const Secret>(std::string(request.bearer));
  const bool queued = core_->Enqueue(
      [core = core_, asked = std::move(asked), answer] { answer(core->Review(asked)); });
  if (queued) return;
  core_->Count("token", "dropped");
  answer(Rejection(503, "too many access reviews are waiting; try again"));
}

}  // namespace mandate
