#include "rbacgen/audit/trace.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "manager/core/strings.h"
#include "manager/rbac/user.h"
#include "rbacgen/audit/identity_names.h"
#include "rbacgen/audit/token_request_rules.h"

namespace mandate::rbacgen {
namespace {

constexpr char kOthers[] = "(others)";
constexpr size_t kNamedUnreadable = 5;
constexpr size_t kMaxTarget = 512;
// Selectors make a URI long, and the attributes of the request are read from it later.
constexpr size_t kMaxUri = 16384;

bool IsWrite(std::string_view verb) {
  return verb == "create" || verb == "update" || verb == "patch" || verb == "delete" ||
         verb == "deletecollection";
}

// The target of the request, as RBAC and kubectl write it: "serviceaccounts/token",
// "deployments.apps".
std::string Target(const AuditEvent& event) {
  if (!event.has_object) {
    return event.request_uri.substr(0, std::min(event.request_uri.find('?'), kMaxTarget));
  }
  std::string target = event.resource;
  if (!event.group.empty()) StrAppend(&target, ".", event.group);
  if (!event.subresource.empty()) StrAppend(&target, "/", event.subresource);
  return target;
}

// Whether the text is RFC 3339 in UTC, as the server writes it. Such texts sort like their times.
bool IsTime(std::string_view text) {
  constexpr std::string_view kForm = "0000-00-00T00:00:00";
  if (text.size() <= kForm.size() || text.back() != 'Z') return false;
  for (size_t i = 0; i < kForm.size(); ++i) {
    const bool digit = '0' <= text[i] && text[i] <= '9';
    if (kForm[i] == '0' ? !digit : text[i] != kForm[i]) return false;
  }
  return true;
}

// Shortens the texts that the tables keep, because clients choose the length of a user agent or a
// name.
void Shorten(size_t max, AuditEvent* event) {
  const auto cut = [max](std::string& text) {
    if (text.size() > max) text.resize(max);
  };
  for (std::string* text :
       {&event->audit_id, &event->verb, &event->received, &event->user_agent, &event->username,
        &event->impersonated, &event->group, &event->resource, &event->subresource, &event->ns,
        &event->name, &event->issued_credential_id}) {
    cut(*text);
  }
  if (event->request_uri.size() > kMaxUri) event->request_uri.resize(kMaxUri);
  for (std::string* text : {&event->source, &event->pod_name, &event->pod_uid}) cut(*text);
  for (std::string& id : event->credential_ids) cut(id);
}

// Reviews of the user's own identity and rights: they use POST, but store nothing.
bool IsSelfReview(const AuditEvent& event) {
  return event.verb == "create" &&
         ((event.group == "authentication.k8s.io" && event.resource == "selfsubjectreviews") ||
          (event.group == "authorization.k8s.io" &&
           (event.resource == "selfsubjectrulesreviews" ||
            event.resource == "selfsubjectaccessreviews")));
}

TraceOptions WithPrefix(TraceOptions options) {
  if (options.user_agent_prefix.empty()) options.user_agent_prefix = options.base_name + "/";
  return options;
}

}  // namespace

Trace::Trace(TraceOptions options, Observer observer)
    : options_(WithPrefix(std::move(options))),
      observer_(std::move(observer)),
      tokens_({.ns = options_.ns,
               .base_name = options_.base_name,
               .max_credentials = options_.max_credentials,
               .addresses = options_.addresses,
               .overlap = options_.token_overlap}),
      recent_(std::max<size_t>(options_.recent_audit_ids, 1)) {}

absl::Status Trace::Add(std::string_view text) {
  absl::Status status = ParseAuditEvent(text, &event_);
  if (!status.ok()) return status;
  ++lines_;
  Shorten(options_.max_text, &event_);
  AddEvent(event_);
  return status;
}

void Trace::AddUnreadable(const std::string& log, int64_t line, std::string_view why) {
  ++lines_;
  ++unreadable_;
  if (unreadable_places_.size() < kNamedUnreadable) {
    unreadable_places_.push_back(StrCat(log, ":", line, ": ", why));
  }
}

std::optional<std::string> Trace::ComponentOf(std::string_view username) const {
  if (const auto other = options_.others.find(username); other != options_.others.end()) {
    return other->second;
  }
  return ComponentOfUsername(username, options_.ns, options_.base_name);
}

bool Trace::IsElsewhere(const AuditEvent& event) {
  const auto account = rbac::ParseServiceAccountUser(event.user());
  if (!account || account->ns == options_.ns || event.user() != event.username || event.masters ||
      !ComponentOfAccount(account->name, options_.base_name)) {
    return false;
  }
  if (elsewhere_.contains(account->ns) || elsewhere_.size() < options_.max_elsewhere) {
    ++elsewhere_[account->ns];
  }
  return true;
}

// The server writes an event when its request ends, so the receipt times are not in order.
void Trace::NoteTime(const std::string& received) {
  if (!IsTime(received)) return;
  if (first_.empty() || received < first_) first_ = received;
  if (received > last_) last_ = received;
}

bool Trace::Counts(const AuditEvent& event) {
  // An open watch has no end yet; a request without a user is answered at its start.
  const bool counts_at_start = event.verb == "watch" || event.username.empty();
  if (event.stage == "ResponseStarted"
          ? !counts_at_start
          : event.stage != "ResponseComplete" && event.stage != "Panic") {
    return false;
  }
  return event.audit_id.empty() || recent_.Insert(event.audit_id);
}

void Trace::AddEvent(const AuditEvent& event) {
  NoteTime(event.received);
  const auto by_user = ComponentOf(event.user());
  const auto by_agent = ComponentOfUserAgent(event.user_agent, options_.user_agent_prefix);
  tokens_.NoteIssued(event);
  instances_.NoteInstance(event);
  const auto by_token = ComponentOf(event.username);
  if ((!by_user && !by_agent && !by_token) || !Counts(event)) return;
  if (!by_user && IsElsewhere(event)) return;
  ++requests_;

  // Base tried to act as a component and was denied, for example before the server knew base's
  // roles.
  const bool in_vain = event.impersonation_refused && by_agent && by_user == kBaseComponent;
  // A component that impersonates another user counts as itself.
  const bool impersonates = !by_user && by_token && !event.impersonated.empty();
  const std::string component = in_vain        ? *by_agent
                                : by_user      ? *by_user
                                : impersonates ? *by_token
                                : by_agent     ? *by_agent
                                               : event.user();
  TraceKey key = {component, event.user(), event.user_agent};
  if (!rows_.contains(key) && rows_.size() >= options_.max_identities) {
    key = {kOthers, kOthers, kOthers};
  }
  const bool other = options_.others.contains(event.user());
  if (!other && !in_vain) {
    // Base sends the user agent of the component as which it acts; a component sends its own.
    const bool acts = !event.impersonated.empty() && by_token && *by_token != kBaseComponent;
    CheckIdentity(event, component, acts ? by_token : std::nullopt,
                  by_user.has_value() || impersonates);
  }
  if (impersonates && *by_token == kBaseComponent && !other) {
    Find(event, "base-impersonates",
         StrCat("base acted as ", event.user(), ", which is not a component"));
  }
  if (observer_)
    observer_(event, in_vain ? component : by_user.value_or(""), by_token.value_or(""));
  TraceRow& row = rows_[key];
  const std::string operation = StrCat(event.verb, " ", Target(event));
  const bool is_new = !row.operations.contains(operation);
  OperationCount& count =
      row.operations[is_new && row.operations.size() >= options_.max_operations ? kOthers
                                                                                : operation];
  ++count.count;
  if (event.forbidden || event.code == 401 || event.code == 403) ++count.denied;

  if (component == kBaseComponent && by_user && !other) CheckBase(event, operation);
  if (by_user && component != kBaseComponent) instances_.NoteBinding(event, component);
  if (options_.others.contains(event.username)) return;  // any user may have issued its tokens
  NoteCredentials(event, by_token.value_or(""), &row);
}

void Trace::NoteCredentials(const AuditEvent& event, const std::string& component, TraceRow* row) {
  if (component == kBaseComponent) tokens_.NoteBase(event);
  for (const std::string& id : event.credential_ids) {
    if (!tokens_.NoteUse(event, id, component)) continue;
    if (row_credentials_ >= 2 * options_.max_credentials) {
      row_left_out_ = row_left_out_ || !row->credential_ids.contains(id);
    } else if (row->credential_ids.insert(id).second) {
      ++row_credentials_;
    }
  }
}

void Trace::CheckIdentity(const AuditEvent& event, const std::string& component,
                          const std::optional<std::string>& impersonator, bool known_user) {
  const auto by_agent = ComponentOfUserAgent(event.user_agent, options_.user_agent_prefix);
  if (by_agent && event.masters) {
    Find(event, "masters",
         StrCat("a request with the manager's user agent had the group system:masters: user ",
                event.user(), ", agent ", event.user_agent));
  }
  if (event.username.empty()) return;  // 401: the event has no user to compare
  const std::string& user = impersonator ? event.username : event.user();
  const std::string& sender = impersonator ? *impersonator : component;
  if (!known_user) {
    Find(event, "foreign-user",
         StrCat("another user sent the manager's user agent: user ", event.user(), ", agent ",
                event.user_agent));
  } else if (!by_agent) {
    Find(event, "agent-mismatch",
         StrCat("user ", user, " sent another user agent: ", event.user_agent));
  } else if (*by_agent != sender) {
    Find(event, "agent-mismatch",
         StrCat("user ", user, " does not match its user agent, which names ", *by_agent, ": ",
                event.user_agent));
  }
  if (known_user && component != kBaseComponent && event.impersonated.empty() &&
      event.credential_ids.empty()) {
    Find(event, "no-credential-id",
         StrCat("user ", event.user(),
                " sent no credential id, so it did not use a token from base"));
  }
}

void Trace::CheckBase(const AuditEvent& event, const std::string& operation) {
  if (!IsWrite(event.verb) || IsSelfReview(event)) return;
  const bool token = event.verb == "create" && event.group.empty() &&
                     event.resource == "serviceaccounts" && event.subresource == "token";
  const bool lease = (event.verb == "update" || event.verb == "patch") &&
                     event.group == "coordination.k8s.io" && event.resource == "leases" &&
                     event.name == options_.base_name;
  if (token && event.ns == options_.ns && event.name.starts_with(options_.base_name + "-")) {
    CheckTokenRequest(event);
    return;
  }
  const bool account = event.verb == "create" && event.group.empty() &&
                       event.resource == "serviceaccounts" && event.subresource.empty() &&
                       event.ns == options_.ns && event.name.starts_with(options_.base_name + "-");
  if (lease || (account && options_.create_service_accounts)) return;
  Find(event, "base-write",
       StrCat("base wrote an object other than the components' tokens and its Lease: ", operation,
              event.name.empty() ? "" : " ", event.name, event.forbidden ? " (denied)" : "",
              account
                  ? "; if the manager runs with --create-service-accounts, set this flag here too"
                  : ""));
}

void Trace::CheckTokenRequest(const AuditEvent& event) {
  if (!event.body.token_request) return;
  const TokenRequestFacts& asked = *event.body.token_request;
  for (const std::string& difference : Unlike(asked, event.name, options_.token_audiences)) {
    Find(event, "token-request",
         StrCat("base requested a token of ", event.name, " ", difference,
                event.code >= 400 ? ", and was denied" : ""));
  }
  if (!asked.bound_kind.empty()) {
    binds_tokens_ = true;
  } else if (!unbound_ && event.code < 400) {
    unbound_ = event;
  }
}

void Trace::Find(const AuditEvent& event, const char* kind, std::string text) {
  const auto known = findings_.find(text);
  if (known != findings_.end()) {
    ++known->second.count;
  } else if (findings_.size() < options_.max_findings) {
    findings_.emplace(std::move(text),
                      Found{kind, 1, StrCat(event.received, ", audit id ", event.audit_id)});
  } else {
    ++findings_left_out_;
  }
}

void Trace::FindAtEnd(const char* kind, std::string text, TraceReport* report) {
  if (report->findings.size() < options_.max_findings) {
    report->findings.push_back({kind, std::move(text)});
  } else {
    ++findings_left_out_;
  }
}

TraceReport Trace::Finish() {
  TraceReport report;
  // A log does not show whether the chart has killSwitch. With it the manager binds all tokens;
  // without it, no token is bound.
  if (binds_tokens_ && unbound_) {
    Find(*unbound_, "token-request",
         StrCat("base requested a token of ", unbound_->name,
                " that is not bound, but other tokens are bound to Secrets"));
  }
  for (const auto& [text, finding] : findings_) {
    report.findings.push_back(
        {finding.kind,
         StrCat(text, " (", finding.count, finding.count == 1 ? " time, " : " times, first at ",
                finding.example, ")")});
  }
  tokens_.Check(
      [&](const char* kind, std::string text) { FindAtEnd(kind, std::move(text), &report); });
  instances_.Check(
      [&](std::string text) { FindAtEnd("orphan-binding", std::move(text), &report); });
  if (findings_left_out_ > 0) {
    report.findings.push_back({"bound", StrCat("omitted findings: ", findings_left_out_)});
  }
  if (tokens_.issued_left_out() || tokens_.used_left_out() || row_left_out_) {
    report.findings.push_back(
        {"bound",
         StrCat("more than ", options_.max_credentials,
                " credential ids: the others were not compared with their TokenRequests")});
  }
  report.tokens = tokens_.Tokens();
  report.issued_to = tokens_.IssuedTo();
  report.unused_tokens = tokens_.unused();
  report.issued_left_out = tokens_.issued_left_out();
  report.elsewhere = std::move(elsewhere_);
  report.rows = std::move(rows_);
  report.lines = lines_;
  report.requests = requests_;
  report.unreadable_lines = unreadable_;
  report.unreadable = std::move(unreadable_places_);
  report.first = first_;
  report.last = last_;
  return report;
}

}  // namespace mandate::rbacgen
