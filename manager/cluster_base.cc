#include "manager/cluster_base.h"

#include <utility>

#include "absl/strings/str_join.h"
#include "manager/base_check.h"
#include "manager/core/status_macros.h"
#include "manager/core/strings.h"
#include "manager/loop_call.h"

namespace mandate {

absl::Status ClusterBase::Check(const CallContext& context) {
  RETURN_IF_ERROR(Identify(context));
  return Review(context);
}

absl::Status ClusterBase::Identify(const CallContext& context) {
  if (!user_.empty()) return absl::OkStatus();
  RETURN_IF_ERROR(CheckServer(context, *options_.client, options_.endpoint));
  options_.log.Info("Connected", {{"server", options_.endpoint.server}});
  ASSIGN_OR_RETURN(std::string user, AskBaseUser(context, *options_.client));
  if (options_.needed) {
    RETURN_IF_ERROR(CheckNamespace(context, *options_.client, user, options_.ns, *options_.needed));
  }
  CallOnLoop(options_.client->loop(), [&] {
    user_check_ = std::make_unique<BaseUserCheck>(BaseUserCheck::Options{
        .base = options_.client, .username = user, .on_other_user = options_.on_lost});
  });
  user_ = std::move(user);
  return absl::OkStatus();
}

absl::Status ClusterBase::Review(const CallContext& context) {
  const auto permissions = ReviewBasePermissions(context, *options_.client, options_.ns);
  Note(permissions.status());
  if (!permissions.ok()) return absl::OkStatus();
  // A cluster that denies nothing has no other mode, and no weaker credential.
  if (options_.mode != IdentityMode::kSingle) {
    RETURN_IF_ERROR(RejectUnlimited(*permissions, user_, options_.ns, options_.service_account));
  }
  if (!permissions->excess.empty() || permissions->unlimited) {
    options_.log.Error(
        "The manager's own credential may do more than it needs",
        {{"user", user_},
         {"may", permissions->unlimited ? "anything" : absl::StrJoin(permissions->excess, ", ")}});
  }
  return absl::OkStatus();
}

void ClusterBase::Note(const absl::Status& permissions) {
  bool was_known = false;
  {
    MutexLock lock(mutex_);
    was_known = known_.ok();
    known_ = permissions;
  }
  if (!permissions.ok() && was_known) {
    options_.log.Error("The permissions of the manager's own credential are still unknown",
                       {{"reason", permissions}});
  } else if (permissions.ok() && !was_known) {
    options_.log.Info("The permissions of the manager's own credential are known now");
  }
}

void ClusterBase::KeepChecking(Executor& workers, absl::Duration timeout, uint64_t seed) {
  PreflightLoop::Options check;
  check.loop = &options_.client->loop();
  check.workers = &workers;
  check.component = "base";
  check.check = [this](const CallContext& context) {
    const absl::Status checked = Check(context);
    if (user_.empty()) Note(checked);  // the caller of Check() reports its error itself
    const std::string warning = Warning();
    return checked.ok() && !warning.empty() ? absl::UnavailableError(warning) : checked;
  };
  // Soon at first: an administrator's credential works meanwhile.
  check.retry = {.initial = absl::Seconds(1), .factor = 2, .max = absl::Minutes(5), .jitter = 0.2};
  check.timeout = timeout;
  check.seed = seed;
  check.report = [this](const absl::Status& found) {
    // A warning: there is no credential yet.
    if (absl::IsFailedPrecondition(found) && Warning().empty()) options_.on_lost(found);
  };
  checks_ = std::make_unique<PreflightLoop>(std::move(check));
  checks_->Start();
}

std::string ClusterBase::Warning() const {
  MutexLock lock(mutex_);
  if (known_.ok()) return "";
  return StrCat("the permissions of the manager's own credential are still unknown: ",
                AsStd(known_.message()));
}

void ClusterBase::OnNewToken() {
  if (user_check_ != nullptr) user_check_->OnNewToken();
}

}  // namespace mandate
