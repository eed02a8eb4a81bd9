#include "manager/identity/token_requester.h"

#include <utility>

#include "manager/core/strings.h"
#include "manager/identity/anonymous.h"
#include "manager/identity/token_request.h"
#include "manager/object/api_error.h"
#include "manager/object/json.h"

namespace mandate {
namespace {

constexpr absl::Duration kMinExpiration = absl::Minutes(10);
constexpr absl::Duration kMaxExpiration = absl::Hours(24 * 365);
constexpr absl::Duration kStretched = absl::Seconds(3607);

bool Succeeded(const HttpResponse& response) { return response.code >= 200 && response.code < 300; }

std::string ObjectBody(const std::string& kind, const std::string& ns, const std::string& name) {
  Json::Value body;
  body["apiVersion"] = "v1";
  body["kind"] = kind;
  body["metadata"]["name"] = name;
  if (!ns.empty()) body["metadata"]["namespace"] = ns;
  return WriteJson(body);
}

// Manifests in YAML for error messages, ready for `kubectl apply -f -`.

std::string ServiceAccountManifest(std::string_view ns, std::string_view name) {
  return StrCat("apiVersion: v1\nkind: ServiceAccount\nmetadata:\n  name: ", name,
                "\n  namespace: ", ns, "\nautomountServiceAccountToken: false\n");
}

std::string SecretManifest(std::string_view ns, std::string_view name) {
  return StrCat("apiVersion: v1\nkind: Secret\nmetadata:\n  name: ", name, "\n  namespace: ", ns,
                "\ntype: Opaque\n");
}

// The Role and RoleBinding with which `base_service_account`, a ServiceAccount of `ns`, may request
// tokens of `name`.
std::string TokenRequestManifest(std::string_view ns, std::string_view base_service_account,
                                 std::string_view name) {
  const std::string role = StrCat(base_service_account, "-mint-", name);
  return StrCat(
      "apiVersion: rbac.authorization.k8s.io/v1\nkind: Role\nmetadata:\n  name: ", role,
      "\n  namespace: ", ns,
      "\nrules:\n- apiGroups: [\"\"]\n  resources: [\"serviceaccounts/token\"]\n  resourceNames: "
      "[\"",
      name, "\"]\n  verbs: [\"create\"]\n",
      "---\napiVersion: rbac.authorization.k8s.io/v1\nkind: RoleBinding\nmetadata:\n  name: ", role,
      "\n  namespace: ", ns,
      "\nroleRef:\n  apiGroup: rbac.authorization.k8s.io\n  kind: Role\n  name: ", role,
      "\nsubjects:\n- kind: ServiceAccount\n  name: ", base_service_account, "\n  namespace: ", ns,
      "\n");
}

FetchResult Failed(FetchOutcome outcome, const std::string& message) {
  return {.outcome = outcome,
          .error = IsPermanent(outcome) ? absl::FailedPreconditionError(message)
                                        : absl::UnavailableError(message)};
}

// A policy or a webhook denied it: no RBAC grant changes that.
bool IsDeniedByAdmission(const absl::Status& status) {
  return IsDeniedByWebhook(status) ||
         AsStd(status.message()).find("ValidatingAdmissionPolicy '") != std::string_view::npos;
}

void EndSpan(Span& span, const absl::StatusOr<HttpResponse>& response) {
  if (!span.recording()) return;
  if (response.ok()) span.SetAttribute("http.response.status_code", response->code);
  span.SetError(response.ok() && response->code >= 400
                    ? StatusFromResponse(response->code, response->body)
                    : response.status());
  span.End();
}

}  // namespace

// One Fetch() and the state of its requests.
struct TokenRequester::Attempt {
  CallContext context;
  Done done;
  absl::Time started = absl::InfinitePast();
  std::shared_ptr<const Token> base_token = {};
  bool created = false;  // the ServiceAccount was created, by us or by another
  bool namespace_tried = false;

  void Finish(FetchResult result) { std::move(done)(std::move(result)); }
};

absl::StatusOr<std::unique_ptr<TokenRequester>> TokenRequester::Create(Options options) {
  if (options.expiration < kMinExpiration || options.expiration > kMaxExpiration ||
      options.expiration == kStretched) {
    return absl::InvalidArgumentError(
        StrCat("a token lifetime of ", absl::FormatDuration(options.expiration),
               " is invalid: choose from 10m to 8760h, but not 3607s, which the API server "
               "extends to a year"));
  }
  if (options.loop == nullptr || options.transport == nullptr || options.endpoint == nullptr ||
      options.ns.empty() || options.service_account.empty()) {
    return absl::InvalidArgumentError(
        "a token requester needs a loop, a transport, an endpoint and a ServiceAccount");
  }
  return std::unique_ptr<TokenRequester>(new TokenRequester(std::move(options)));
}

TokenRequester::TokenRequester(Options options) : options_(std::move(options)) {}

std::string TokenRequester::Subject() const {
  return StrCat("system:serviceaccount:", options_.ns, ":", options_.service_account);
}

void TokenRequester::Fetch(const CallContext& context, Done done) {
  WithCredential(std::make_shared<Attempt>(Attempt{.context = context, .done = std::move(done)}));
}

void TokenRequester::WithCredential(std::shared_ptr<Attempt> attempt) {
  if (options_.base == nullptr) return RequestToken(std::move(attempt));
  if ((attempt->base_token = options_.base->Cached()) != nullptr) {
    return RequestToken(std::move(attempt));
  }
  options_.base->Fetch(
      attempt->context,
      weak_.Bind([this, attempt](absl::StatusOr<std::shared_ptr<const Token>> token) {
        if (!token.ok()) {
          return attempt->Finish(Failed(
              FetchOutcome::kNoBaseToken,
              StrCat("no token of ServiceAccount ", options_.ns, "/", options_.service_account,
                     " could be requested, because base has no token: ",
                     AsStd(token.status().message()))));
        }
        attempt->base_token = *std::move(token);
        RequestToken(attempt);
      }));
}

void TokenRequester::Post(std::shared_ptr<Attempt> attempt, std::string target, std::string body,
                          Next next) {
  Credential credential = EndpointCertificate{};
  std::shared_ptr<const Endpoint> endpoint = options_.endpoint;
  if (const Token* token = attempt->base_token.get(); token != nullptr) {
    if (token->certificate_endpoint != nullptr) {
      endpoint = token->certificate_endpoint;
    } else {
      credential = BearerToken{token->value};
    }
  }
  HttpRequest request(std::move(endpoint), std::move(credential), "POST", std::move(target));
  request.user_agent = options_.user_agent;
  request.content_type = "application/json";
  request.body = std::move(body);
  // The request is base's; the trace is that of the component that waits for the token.
  Span span = Span::Child(attempt->context.trace,
                          {.component = "base", .name = "POST", .kind = SpanKind::kClient});
  span.SetAttribute("url.path", request.target);
  if (std::string parent = span.context().traceparent(); !parent.empty()) {
    request.headers.emplace_back("traceparent", std::move(parent));
  }
  options_.transport->Call(attempt->context, std::move(request),
                           weak_.Bind([next = std::move(next), span = std::move(span)](
                                          absl::StatusOr<HttpResponse> response) mutable {
                             EndSpan(span, response);
                             std::move(next)(std::move(response));
                           }));
}

void TokenRequester::RequestToken(std::shared_ptr<Attempt> attempt) {
  attempt->started = options_.loop->clock().TimeNow();
  Post(attempt,
       StrCat("/api/v1/namespaces/", options_.ns, "/serviceaccounts/", options_.service_account,
              "/token"),
       TokenRequestBody(options_.expiration, options_.audiences, options_.bound_secret),
       [this, attempt](absl::StatusOr<HttpResponse> response) {
         OnToken(attempt, std::move(response));
       });
}

void TokenRequester::OnToken(std::shared_ptr<Attempt> attempt,
                             absl::StatusOr<HttpResponse> response) {
  constexpr std::string_view kDoing = "request a token of";
  if (!response.ok()) return attempt->Finish(Unreachable(response.status(), kDoing));
  if (Succeeded(*response)) return attempt->Finish(Issue(*attempt, *std::move(response)));
  FetchResult refusal = FailedResponse(*attempt, *response, kDoing);
  if (refusal.outcome == FetchOutcome::kNoServiceAccount && options_.create_service_account &&
      !attempt->created) {
    return CreateServiceAccount(std::move(attempt));
  }
  attempt->Finish(std::move(refusal));
}

void TokenRequester::CreateServiceAccount(std::shared_ptr<Attempt> attempt) {
  Post(attempt, StrCat("/api/v1/namespaces/", options_.ns, "/serviceaccounts"),
       ObjectBody("ServiceAccount", options_.ns, options_.service_account),
       [this, attempt](absl::StatusOr<HttpResponse> response) {
         OnServiceAccount(attempt, std::move(response));
       });
}

void TokenRequester::OnServiceAccount(std::shared_ptr<Attempt> attempt,
                                      absl::StatusOr<HttpResponse> response) {
  constexpr std::string_view kDoing = "create";
  if (!response.ok()) return attempt->Finish(Unreachable(response.status(), kDoing));
  // 409: another process created it first.
  if (Succeeded(*response) || response->code == 409) {
    attempt->created = true;
    return RequestToken(std::move(attempt));
  }
  if (response->code == 404 && !attempt->namespace_tried) {
    // The namespace is missing. Whether we may create it is unknown: the second attempt to create
    // the ServiceAccount shows it.
    attempt->namespace_tried = true;
    return Post(attempt, "/api/v1/namespaces", ObjectBody("Namespace", "", options_.ns),
                [this, attempt](absl::StatusOr<HttpResponse>) { CreateServiceAccount(attempt); });
  }
  FetchResult refusal = FailedResponse(*attempt, *response, kDoing);
  if (refusal.outcome == FetchOutcome::kTokenRequestForbidden)
    refusal.outcome = FetchOutcome::kCreateServiceAccountForbidden;
  attempt->Finish(std::move(refusal));
}

FetchResult TokenRequester::Issue(const Attempt& attempt, HttpResponse response) const {
  const Secret body(std::move(response.body));
  absl::StatusOr<IssuedToken> issued = ParseTokenResponse(body.Reveal());
  if (!issued.ok()) {
    return Failed(
        FetchOutcome::kMalformed,
        StrCat("the response to a token request for ServiceAccount ", options_.ns, "/",
               options_.service_account, " cannot be used: ", AsStd(issued.status().message())));
  }
  return {.outcome = FetchOutcome::kIssued,
          .token = std::make_shared<const Token>(
              Token{.value = std::make_shared<const Secret>(std::move(issued->token)),
                    .subject = Subject(),
                    .acquired = attempt.started,
                    .expires = attempt.started + issued->life})};
}

FetchResult TokenRequester::Unreachable(const absl::Status& status, std::string_view doing) const {
  return Failed(
      FetchOutcome::kUnreachable,
      StrCat("cannot ", doing, " ServiceAccount ", options_.ns, "/", options_.service_account,
             " at ", options_.endpoint->server, ": ", AsStd(status.message())));
}

FetchResult TokenRequester::FailedResponse(const Attempt& attempt, const HttpResponse& response,
                                           std::string_view doing) {
  const absl::Status status =
      StatusFromResponse(response.code, response.body, response.retry_after);
  const std::string account = StrCat("ServiceAccount ", options_.ns, "/", options_.service_account);
  const std::string cause = StrCat(" (", response.code, ": ", AsStd(status.message()), ")");
  if (response.code == 401 || IsAnonymous(status)) {
    if (attempt.base_token != nullptr) options_.base->Invalidate(*attempt.base_token);
    return Failed(
        FetchOutcome::kBaseRejected,
        StrCat("cannot ", doing, " ", account,
               ": the server does not accept the manager's own credential",
               attempt.base_token == nullptr ? ", a client certificate"
                                             : StrCat(" (", attempt.base_token->subject, ")"),
               cause, "; renew it: the manager reads it again when it changes"));
  }
  if (response.code == 404) {
    const std::optional<ApiStatusProto> api = ApiStatus(status);
    if (!options_.bound_secret.empty() && api.has_value() && api->details().kind() == "secrets") {
      return Failed(
          FetchOutcome::kNoBoundSecret,
          StrCat("Secret ", options_.ns, "/", options_.bound_secret,
                 " does not exist, so tokens of ", account, " are disabled", cause,
                 ". To enable them, apply:\n", SecretManifest(options_.ns, options_.bound_secret)));
    }
    return Failed(
        FetchOutcome::kNoServiceAccount,
        StrCat(account, " does not exist", cause, ". Apply it (it is part of the chart):\n",
               ServiceAccountManifest(options_.ns, options_.service_account)));
  }
  if (response.code == 403 && IsDeniedByAdmission(status)) {
    return Failed(FetchOutcome::kRejected,
                  StrCat("admission does not allow base to ", doing, " ", account, cause,
                         "; check that the manager's flags agree with the chart's values "
                         "(killSwitch, apiAudiences)"));
  }
  if (response.code == 403) {
    return Failed(
        FetchOutcome::kTokenRequestForbidden,
        StrCat("base may not ", doing, " ", account, cause, ". Apply (it is part of the chart):\n",
               doing == "create" ? ServiceAccountManifest(options_.ns, options_.service_account)
                                 : TokenRequestManifest(options_.ns, options_.base_service_account,
                                                        options_.service_account)));
  }
  FetchOutcome outcome = FetchOutcome::kServerError;
  if (response.code == 429) {
    outcome = FetchOutcome::kThrottled;
  } else if (response.code < 500 && response.code != 408) {
    outcome = FetchOutcome::kRejected;
  }
  FetchResult result = Failed(outcome, StrCat("base could not ", doing, " ", account, cause));
  result.retry_after = RetryAfter(status);
  return result;
}

}  // namespace mandate
