// The audit trace: the requests of each component, its identity, and the origin of each of its
// tokens. Memory does not grow with the log: everything is a counter or has a bound.
#ifndef RBACGEN_AUDIT_TRACE_H_
#define RBACGEN_AUDIT_TRACE_H_

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
  // Requests are ours if their user is the ServiceAccount base_name or base_name-<component> of
  // the namespace, or their user agent begins with this. A manager of another namespace is not
  // ours.
  std::string user_agent_prefix = "mandate-manager/";
  std::string ns = "mandate-system";
  std::string base_name = "mandate-manager";
  // Users that no Mandate manager runs as, with a name for each. The trace does not check the
  // origin of their tokens or their user agents.
  std::map<std::string, std::string, std::less<>> others;
  // Addresses that one process may use in turn, such as those of a gateway.
  std::vector<AddressRange> addresses;
  // The audiences that the manager requests tokens for, its --token-audiences; empty: the default.
  std::vector<std::string> token_audiences;
  // Whether the manager makes missing ServiceAccounts of its components, by the flag of that name.
  bool create_service_accounts = false;
  // How long a token may still be used after the first use of the next one.
  absl::Duration token_overlap = absl::Seconds(60);
  size_t max_identities = 1000;     // rows; further ones are one row "(others)"
  size_t max_operations = 500;      // verb × resource of one identity; further ones are "(others)"
  size_t max_credentials = 10000;   // ours, issued, and used; further ones cannot be joined
  size_t max_elsewhere = 100;       // other namespaces with a manager
  size_t max_findings = 1000;       // different ones; further ones are counted
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
  int64_t denied = 0;  // 401, 403
};

struct TraceRow {
  std::map<std::string, OperationCount> operations;  // "list deployments.apps", "get /version"
  std::set<std::string> credential_ids;
};

struct TraceReport {
  std::map<TraceKey, TraceRow> rows;
  std::vector<TokenOrigin> tokens;  // by component, time and id
  // Findings, each with a count and an example.
  std::vector<TraceFinding> findings;
  int64_t lines = 0;
  int64_t requests = 0;  // ours
  int64_t unreadable_lines = 0;
  int64_t unused_tokens = 0;  // issued by base, not used in this log
  // Of the unreadable ones, the first few: "audit.log:17: why".
  std::vector<std::string> unreadable;
  std::set<std::string> issued_to;  // ServiceAccounts, namespace/name, that base made tokens for
  // Requests of other namespaces' accounts that are called as ours, with our user agent.
  std::map<std::string, int64_t> elsewhere;
  bool issued_left_out = false;  // TokenRequests for our components were more than are kept
  std::string first, last;       // when the earliest and latest requests came; RFC 3339
};

// Not thread-safe.
class Trace {
 public:
  // Called with each request that counts, once: as which component it acted, and whose token it
  // carried (another's when it impersonates). From authenticated users only, empty if the
  // user is not a component: a user agent proves nothing.
  using Observer = std::function<void(const AuditEvent& event, const std::string& component,
                                      const std::string& bearer)>;

  explicit Trace(TraceOptions options, Observer observer = nullptr);

  // The text of one event. InvalidArgument if it is not an event: then nothing is counted.
  absl::Status Add(std::string_view text);
  // A part of a log that could not be read, and its place.
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
  // nullopt: the user is not an identity of the manager.
  std::optional<std::string> ComponentOf(std::string_view username) const;
  // Whether this is the one event of its request that counts.
  bool Counts(const AuditEvent& event);
  // Whether the request is another namespace's manager's; then it is counted as that.
  bool IsElsewhere(const AuditEvent& event);
  // `component` acted; `impersonator` is a component, not base, that impersonated a user.
  void CheckIdentity(const AuditEvent& event, const std::string& component,
                     const std::optional<std::string>& impersonator, bool known_user);
  void CheckBase(const AuditEvent& event, const std::string& operation);
  void CheckTokenRequest(const AuditEvent& event);
  void NoteCredentials(const AuditEvent& event, const std::string& component, TraceRow* row);
  void Find(const AuditEvent& event, const char* kind, std::string text);
  // A finding of the whole log, if there is still room.
  void FindAtEnd(const char* kind, std::string text, TraceReport* report);

  const TraceOptions options_;
  const Observer observer_;
  AuditEvent event_;  // the one that is being read
  std::map<TraceKey, TraceRow> rows_;
  TokenBook tokens_;
  InstanceBook instances_;
  bool binds_tokens_ = false;              // base requested a token that is bound to a Secret
  std::optional<AuditEvent> unbound_;      // the first that was not
  std::map<std::string, Found> findings_;  // by text
  RecentSet recent_;
  size_t row_credentials_ = 0;  // in all rows
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

#endif  // RBACGEN_AUDIT_TRACE_H_
