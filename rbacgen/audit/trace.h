// The audit trace: the requests of each component, its identity, and the origin of each of its
// tokens. Memory does not grow with the log: everything is a counter or has a bound.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "rbacgen/audit/addresses.h"
#include "rbacgen/audit/event.h"
#include "rbacgen/audit/instance_book.h"
#include "rbacgen/audit/recent_set.h"
#include "rbacgen/audit/token_book.h"
#include "rbacgen/audit/trace_finding.h"

namespace mandate::rbacgen {

struct TraceOptions {
  // A request is the manager's if its user is the ServiceAccount base_name or base_name-<component>
  // of the namespace, or if its user agent begins with this prefix. Requests of a manager in
  // another namespace are not counted.
  std::string user_agent_prefix = {};  // empty: base_name and "/"
  std::string ns = "mandate-system";
  std::string base_name = "mandate-manager";
  // The users of programs that are not a Mandate manager, with a name for each. For them, the trace
  // does not check user agents or the origin of tokens.
  std::map<std::string, std::string, std::less<>> others;
  // Addresses that one process may use in turn, such as those of a gateway.
  std::vector<AddressRange> addresses;
  // The audiences for which the manager requests tokens (--token-audiences). Empty for the default.
  std::vector<std::string> token_audiences;
  // Whether the manager creates missing ServiceAccounts (--create-service-accounts).
  bool create_service_accounts = false;
  // When an identity has begun to use a new token, how long it may still use the old one.
  absl::Duration token_overlap = absl::Seconds(60);
  size_t max_identities = 1000;  // rows; further identities share one row "(others)"
  size_t max_operations = 500;   // verb × resource of one identity; further ones share "(others)"
  // The limit of the manager's issued tokens, and separately of its used tokens. A use of a further
  // token cannot be matched with the request that issued the token.
  size_t max_credentials = 10000;
  size_t max_elsewhere = 100;       // other namespaces that have a manager
  size_t max_findings = 1000;       // different findings; further ones are only counted
  size_t recent_audit_ids = 65536;  // how far apart two events of one request may be
  size_t max_text = 512;            // bytes of a name, agent or id; the rest is cut off
};

// One identity as it appears in the log.
struct TraceKey {
  std::string component;
  std::string username;
  std::string user_agent;

  auto operator<=>(const TraceKey&) const = default;
};

struct OperationCount {
  int64_t count = 0;
  int64_t denied = 0;  // responses with 401 or 403
};

struct TraceRow {
  std::map<std::string, OperationCount> operations;  // "list deployments.apps", "get /version"
  std::set<std::string> credential_ids;
};

struct TraceReport {
  std::map<TraceKey, TraceRow> rows;
  std::vector<TokenOrigin> tokens;  // sorted by component, time and id
  // Findings, each with a count and an example.
  std::vector<TraceFinding> findings;
  int64_t lines = 0;
  int64_t requests = 0;  // requests of the manager
  int64_t unreadable_lines = 0;
  int64_t unused_tokens = 0;  // tokens that base made and this log does not use
  // The first few unreadable lines: "audit.log:17: why".
  std::vector<std::string> unreadable;
  // The ServiceAccounts (namespace/name) for which base made tokens.
  std::set<std::string> issued_to;
  // The number of requests of another namespace's manager, by namespace: the account's name and the
  // user agent are like this manager's.
  std::map<std::string, int64_t> elsewhere;
  bool issued_left_out = false;  // the log has more TokenRequests for components than are kept
  std::string first, last;       // the times of the earliest and latest requests; RFC 3339
};

// Not thread-safe.
class Trace {
 public:
  // Called once for each counted request, with the component as which it acted and the component
  // whose token it carried; they differ if the token's owner impersonates. Both come from
  // authenticated users only and are empty if the user is not a component, because a user agent
  // proves nothing.
  using Observer = std::function<void(const AuditEvent& event, const std::string& component,
                                      const std::string& bearer)>;

  explicit Trace(TraceOptions options, Observer observer = nullptr);

  // Reads the text of one event. InvalidArgument if it is not an event; then nothing is counted.
  absl::Status Add(std::string_view text);
  // Records a part of a log that could not be read, and its place.
  void AddUnreadable(const std::string& log, int64_t line, std::string_view why);
  TraceReport Finish();

 private:
  struct Found {
    const char* kind = nullptr;
    int64_t count = 0;
    std::string example;  // time and audit id
  };

  void AddEvent(const AuditEvent& event);
  void NoteTime(const std::string& received);
  // The component that has this user name; nullopt if no identity of the manager has it.
  std::optional<std::string> ComponentOf(std::string_view username) const;
  // A request may have several events. True for exactly one of them, so that the request is counted
  // once.
  bool Counts(const AuditEvent& event);
  // Whether the request is from a manager in another namespace; if so, counts it in elsewhere_.
  bool IsElsewhere(const AuditEvent& event);
  // `component` acted; `impersonator` is set if a component other than base impersonated a user.
  void CheckIdentity(const AuditEvent& event, const std::string& component,
                     const std::optional<std::string>& impersonator, bool known_user);
  void CheckBase(const AuditEvent& event, const std::string& operation);
  void CheckTokenRequest(const AuditEvent& event);
  void NoteCredentials(const AuditEvent& event, const std::string& component, TraceRow* row);
  void Find(const AuditEvent& event, const char* kind, std::string text);
  // Adds a finding about the whole log, if the limit allows it.
  void FindAtEnd(const char* kind, std::string text, TraceReport* report);

  const TraceOptions options_;
  const Observer observer_;
  AuditEvent event_;  // the event that is being read
  std::map<TraceKey, TraceRow> rows_;
  TokenBook tokens_;
  InstanceBook instances_;
  bool binds_tokens_ = false;              // base requested a token that is bound to a Secret
  std::optional<AuditEvent> unbound_;      // the first token request that was not bound
  std::map<std::string, Found> findings_;  // by text
  RecentSet recent_;
  size_t row_credentials_ = 0;  // the number in all rows
  int64_t lines_ = 0;
  int64_t requests_ = 0;
  int64_t unreadable_ = 0;
  std::vector<std::string> unreadable_places_;
  std::string first_, last_;
  int64_t findings_left_out_ = 0;
  std::map<std::string, int64_t> elsewhere_;
  bool row_left_out_ = false;
};

}  // namespace mandate::rbacgen
