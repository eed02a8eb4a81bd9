// Reports on audit events with any texts: the sums agree, nothing grows beyond its bound, the JSON
// is valid, and texts of the log cannot control the reader's terminal.
//
// Each line of the input is one event; the fields are separated by '|'.
#include <algorithm>
#include <string>
#include <vector>

#include "manager/object/json.h"
#include "rbacgen/audit/ledger.h"
#include "rbacgen/audit/report.h"
#include "rbacgen/audit/trace.h"
#include "testing/fuzz/fuzz.h"

namespace mandate::fuzz {
namespace {

std::vector<std::string> Split(std::string_view text, char at) {
  std::vector<std::string> parts;
  while (true) {
    const size_t end = text.find(at);
    parts.emplace_back(text.substr(0, end));
    if (end == text.npos) return parts;
    text.remove_prefix(end + 1);
  }
}

std::string EventOf(std::string_view line) {
  std::vector<std::string> fields = Split(line, '|');
  fields.resize(11);
  Json::Value event(Json::objectValue);
  event["kind"] = "Event";
  event["apiVersion"] = "audit.k8s.io/v1";
  event["verb"] = fields[0];
  event["user"]["username"] = fields[1];
  event["userAgent"] = fields[2];
  event["requestURI"] = fields[3];
  event["stage"] = fields[4].empty() ? "ResponseComplete" : fields[4];
  event["responseStatus"]["code"] = static_cast<int>(fields[5].size());
  event["annotations"]["authorization.k8s.io/reason"] = fields[6];
  event["annotations"]["authorization.k8s.io/decision"] = fields[7];
  event["annotations"]["authentication.kubernetes.io/issued-credential-id"] = fields[8];
  event["user"]["extra"]["authentication.kubernetes.io/credential-id"][0] = fields[9];
  if (!fields[10].empty()) {
    event["impersonatedUser"]["username"] = fields[10];
    event["objectRef"]["resource"] = fields[10];
  }
  return WriteJson(event);
}

bool IsSafe(std::string_view text) {
  return std::ranges::all_of(text,
                             [](unsigned char c) { return (c >= 0x20 && c != 0x7F) || c == '\n'; });
}

void Check(const rbacgen::TraceReport& report, const rbacgen::TraceOptions& options) {
  int64_t requests = 0;
  Require(report.rows.size() <= options.max_identities + 1, "identities are bounded");
  for (const auto& [key, row] : report.rows) {
    Require(row.operations.size() <= options.max_operations + 1, "operations are bounded");
    for (const auto& [operation, count] : row.operations) {
      Require(count.count > 0 && count.denied <= count.count, "counts are of requests", operation);
      requests += count.count;
    }
  }
  Require(requests == report.requests, "each request is one operation of one identity");
  Require(IsSafe(TraceText(report, /*colour=*/false)), "a table does not steer the terminal",
          TraceText(report, false));
  Require(ParseJson(TraceJson(report)).ok(), "JSON is JSON", TraceJson(report));
}

void Check(std::string_view text) {
  rbacgen::TraceOptions options;
  options.user_agent_prefix = "m/";
  options.base_name = "m";
  options.max_identities = 4;
  options.max_operations = 3;
  options.max_credentials = 3;
  options.max_findings = 4;
  rbacgen::Ledger ledger(/*max_unexplained=*/3);
  ledger.Declare("a", {{.ns = "", .rule = {{"get"}, {""}, {"pods"}, {}, {}}, .source = "x:1"}}, {});
  int64_t noted = 0;
  rbacgen::Trace trace(options, [&](const rbacgen::AuditEvent& event, const std::string& component,
                                    const std::string& bearer) {
    ledger.Note(event, component, bearer);
    ++noted;
  });
  for (const std::string& line : Split(text, '\n')) {
    const std::string event = EventOf(line);
    // JSON with strings that are not UTF-8 is invalid.
    if (!trace.Add(event).ok()) trace.AddUnreadable("log", 1, "why");
  }
  const rbacgen::TraceReport report = trace.Finish();
  Require(noted == report.requests, "each request that counts is observed once");
  for (const auto& [component, identity] : ledger.identities()) {
    Require(identity.denied.size() <= 3 && identity.undeclared.size() <= 3,
            "what is unexplained is bounded", component);
  }
  Check(report, options);
}

}  // namespace
}  // namespace mandate::fuzz

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace mandate::fuzz;
  if (size > 4000) return 0;
  Check(Text(data, size));
  return 0;
}
