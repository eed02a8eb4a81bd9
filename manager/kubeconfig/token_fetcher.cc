#include "manager/kubeconfig/token_fetcher.h"

namespace mandate {

std::string_view FetchOutcomeName(FetchOutcome outcome) {
  switch (outcome) {
    case FetchOutcome::kIssued:
      return "issued";
    case FetchOutcome::kNoServiceAccount:
      return "no_service_account";
    case FetchOutcome::kNoBoundSecret:
      return "no_bound_secret";
    case FetchOutcome::kTokenRequestForbidden:
      return "may_not_mint";
    case FetchOutcome::kCreateServiceAccountForbidden:
      return "may_not_create";
    case FetchOutcome::kRejected:
      return "rejected";
    case FetchOutcome::kPluginFailed:
      return "plugin_failed";
    case FetchOutcome::kBaseRejected:
      return "base_rejected";
    case FetchOutcome::kNoBaseToken:
      return "no_base_token";
    case FetchOutcome::kThrottled:
      return "throttled";
    case FetchOutcome::kServerError:
      return "server_error";
    case FetchOutcome::kUnreachable:
      return "unreachable";
    case FetchOutcome::kMalformed:
      return "malformed";
  }
  return "unknown";
}

bool IsPermanent(FetchOutcome outcome) {
  switch (outcome) {
    case FetchOutcome::kNoServiceAccount:
    case FetchOutcome::kNoBoundSecret:
    case FetchOutcome::kTokenRequestForbidden:
    case FetchOutcome::kCreateServiceAccountForbidden:
    case FetchOutcome::kRejected:
    case FetchOutcome::kPluginFailed:
      return true;
    default:
      return false;
  }
}

}  // namespace mandate
