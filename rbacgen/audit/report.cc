#include "rbacgen/audit/report.h"

#include <algorithm>
#include <string_view>

#include "manager/core/printable.h"
#include "manager/core/strings.h"
#include "manager/object/json.h"
#include "rbacgen/audit/identity_names.h"
#include "rbacgen/report/table.h"

namespace mandate::rbacgen {
namespace {

// "3: 1b2c3d4e, 5f6a7b8c, …"
std::string Credentials(const std::set<std::string>& ids) {
  constexpr size_t kShown = 2;
  if (ids.empty()) return "-";
  std::string text = StrCat(ids.size(), ":");
  size_t shown = 0;
  for (const std::string& id : ids) {
    if (shown == kShown) {
      text += ", …";
      break;
    }
    StrAppend(&text, shown == 0 ? " " : ", ", ShortCredentialId(id));
    ++shown;
  }
  return text;
}

std::string RowsText(const TraceReport& report, bool colour) {
  using enum Table::Align;
  Table table({{"COMPONENT", kLeft},
               {"USERNAME", kLeft},
               {"USER AGENT", kLeft},
               {"CREDENTIAL IDS", kLeft},
               {"VERB RESOURCE", kLeft},
               {"COUNT", kRight},
               {"DENIED", kRight}},
              colour);
  for (const auto& [key, row] : report.rows) {
    bool first = true;
    for (const auto& [operation, count] : row.operations) {
      table.Add(
          {first ? key.component : "", first ? ShortUsername(key.username) : "",
           first ? ShortUserAgent(key.user_agent) : "",
           first ? Credentials(row.credential_ids) : "", operation, std::to_string(count.count),
           count.denied == 0 ? "-" : std::to_string(count.denied)},
          count.denied > 0);
      first = false;
    }
  }
  return table.Write();
}

}  // namespace

std::string TokensText(const TraceReport& report, bool colour) {
  Table table({{"CREDENTIAL ID"}, {"COMPONENT"}, {"ISSUED TO"}, {"ISSUED BY"}, {"WHEN"}}, colour);
  for (const TokenOrigin& token : report.tokens) {
    table.Add({token.credential_id, token.component, token.joined ? token.issued_to : "?",
               token.joined ? ShortUsername(token.issued_by) : "?",
               token.joined             ? token.when
               : report.issued_left_out ? "unknown: too many TokenRequests"
                                        : "no TokenRequest in this log"},
              !token.joined);
  }
  return table.Write();
}

std::string TraceText(const TraceReport& report, bool colour) {
  std::string text =
      StrCat("Requests by component (user ns/name is system:serviceaccount:ns:name)\n\n",
             RowsText(report, colour), "\nOrigin of the components' tokens\n\n",
             TokensText(report, colour), "\n");
  for (const TraceFinding& finding : report.findings) {
    const TraceFindingKind& kind = KindOf(finding.kind);
    StrAppend(&text, "FOUND ", kind.name, " (", kind.severity, "): ", Printable(finding.text),
              "\n");
  }
  // The next step is printed once for each kind, not for each finding.
  for (const TraceFindingKind& kind : TraceFindingKinds()) {
    if (std::ranges::find(report.findings, kind.name, &TraceFinding::kind) ==
        report.findings.end()) {
      continue;
    }
    StrAppend(&text, "NEXT ", kind.name, ": ", kind.next, "\n");
  }
  const auto plural = [](int64_t n, std::string_view noun) {
    return StrCat(n, " ", noun, n == 1 ? "" : "s");
  };
  for (const auto& [ns, count] : report.elsewhere) {
    StrAppend(&text, "NOTE: ", plural(count, "request"), " from another manager, in the namespace ",
              Printable(ns), ": use --namespace=", Printable(ns), " to trace it\n");
  }
  StrAppend(&text, plural(report.requests, "request"), " from the manager in ",
            plural(report.lines, "line"), "; ", plural(report.tokens.size(), "token"),
            " used by components");
  if (report.unused_tokens > 0) StrAppend(&text, ", ", report.unused_tokens, " issued but unused");
  if (report.unreadable_lines > 0) {
    StrAppend(&text, "; ", plural(report.unreadable_lines, "line"), " could not be read (",
              Printable(report.unreadable.empty() ? "" : report.unreadable.front()),
              report.unreadable_lines > 1 ? ", …)" : ")");
  }
  const size_t found = report.findings.size();
  const std::string none =
      report.requests == 0 ? "nothing is proven without a request from the manager" : "no findings";
  return StrCat(text, "; ", found == 0 ? none : plural(found, "finding"), "\n");
}

Json::Value TraceJsonValue(const TraceReport& report) {
  Json::Value root(Json::objectValue);
  Json::Value& identities = root["identities"] = Json::Value(Json::arrayValue);
  for (const auto& [key, row] : report.rows) {
    Json::Value identity(Json::objectValue);
    identity["component"] = key.component;
    identity["username"] = key.username;
    identity["userAgent"] = key.user_agent;
    Json::Value& ids = identity["credentialIDs"] = Json::Value(Json::arrayValue);
    for (const std::string& id : row.credential_ids) ids.append(id);
    Json::Value& operations = identity["operations"] = Json::Value(Json::arrayValue);
    for (const auto& [operation, count] : row.operations) {
      Json::Value entry(Json::objectValue);
      const size_t blank = operation.find(' ');
      entry["verb"] = operation.substr(0, blank);
      entry["target"] = blank == operation.npos ? "" : operation.substr(blank + 1);
      entry["count"] = Json::Int64(count.count);
      entry["denied"] = Json::Int64(count.denied);
      operations.append(entry);
    }
    identities.append(identity);
  }
  Json::Value& tokens = root["tokens"] = Json::Value(Json::arrayValue);
  for (const TokenOrigin& token : report.tokens) {
    Json::Value entry(Json::objectValue);
    entry["credentialID"] = token.credential_id;
    entry["component"] = token.component;
    entry["joined"] = token.joined;
    if (token.joined) {
      entry["issuedTo"] = token.issued_to;
      entry["issuedBy"] = token.issued_by;
      entry["when"] = token.when;
    }
    tokens.append(entry);
  }
  Json::Value& findings = root["findings"] = Json::Value(Json::arrayValue);
  for (const TraceFinding& finding : report.findings) {
    const TraceFindingKind& kind = KindOf(finding.kind);
    Json::Value entry(Json::objectValue);
    entry["kind"] = kind.name;
    entry["severity"] = kind.severity;
    entry["text"] = finding.text;
    entry["next"] = kind.next;
    findings.append(entry);
  }
  Json::Value& elsewhere = root["elsewhere"] = Json::Value(Json::objectValue);
  for (const auto& [ns, count] : report.elsewhere) elsewhere[ns] = Json::Int64(count);
  root["lines"] = Json::Int64(report.lines);
  root["requests"] = Json::Int64(report.requests);
  root["unreadableLines"] = Json::Int64(report.unreadable_lines);
  root["unusedTokens"] = Json::Int64(report.unused_tokens);
  return root;
}

std::string TraceJson(const TraceReport& report) {
  return PrintableJson(WriteJson(TraceJsonValue(report))) + "\n";
}

}  // namespace mandate::rbacgen
