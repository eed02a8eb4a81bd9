#include "rbacgen/audit/four_way_report.h"

#include "manager/core/printable.h"
#include "manager/core/strings.h"
#include "manager/object/json.h"
#include "rbacgen/audit/identity_names.h"
#include "rbacgen/audit/report.h"
#include "rbacgen/report/table.h"
#include "rbacgen/world/words.h"

namespace mandate::rbacgen {
namespace {

std::string Plural(int64_t n, std::string_view noun) {
  return StrCat(n, " ", noun, n == 1 ? "" : "s");
}

std::string YesNo(const std::optional<bool>& value) { return !value ? "?" : *value ? "yes" : "-"; }

std::string DeclaredWords(const FourWayRow& row) {
  if (row.implicit) return "always";
  if (row.declared.empty()) return "-";
  // A place such as "controllers/scope/template_reconciler.h:4" is long; the file's name suffices.
  std::string place = row.declared.front();
  place = place.substr(place.rfind('/') + 1);
  return row.declared.size() == 1 ? place : StrCat(place, ", …");
}

bool IsAmiss(Verdict verdict) {
  return verdict == Verdict::kUnused || verdict == Verdict::kUndeclared ||
         verdict == Verdict::kHidden;
}

std::string IdentityText(const FourWayIdentity& identity, bool colour) {
  using enum Table::Align;
  Table table({{"VERB RESOURCE", kLeft},
               {"DECLARED", kLeft},
               {"COMPILED", kLeft},
               {"USED", kRight},
               {"GRANTED", kLeft},
               {"REMARK", kLeft}},
              colour);
  for (const FourWayRow& row : identity.rows) {
    table.Add({RuleWords(row.rule, row.ns), DeclaredWords(row), YesNo(row.compiled),
               row.used == 0 ? "-" : std::to_string(row.used), YesNo(row.granted),
               VerdictWords(row.verdict)},
              IsAmiss(row.verdict));
  }
  return StrCat(Printable(identity.component), "  (", Printable(ShortUsername(identity.user.name)),
                ")  ", Plural(identity.requests, "request"), ", ", Plural(identity.tokens, "token"),
                "\n", table.Write(), "\n");
}

}  // namespace

std::string FourWayText(const FourWayReport& report, const TraceReport& trace, bool colour) {
  std::string text;
  for (const FourWayIdentity& identity : report.identities) text += IdentityText(identity, colour);
  if (!trace.tokens.empty()) StrAppend(&text, TokensText(trace, colour), "\n");
  for (const Finding& f : report.findings) {
    StrAppend(&text, "FOUND ", f.kind, ": ",
              f.component.empty() ? "" : Printable(f.component) + ": ", Printable(f.text), "\n");
  }
  for (const std::string& note : report.notes) StrAppend(&text, "NOTE ", Printable(note), "\n");
  StrAppend(&text, Plural(trace.requests, "request"), " from the manager in ",
            Plural(trace.lines, "event"));
  if (!trace.first.empty())
    StrAppend(&text, " from ", Printable(trace.first), " to ", Printable(trace.last));
  return StrCat(text, "; ",
                report.findings.empty() ? "no findings" : Plural(report.findings.size(), "finding"),
                "\n");
}

std::string FourWayJson(const FourWayReport& report, const TraceReport& trace) {
  Json::Value root = TraceJsonValue(trace);
  root["trace"] = root["findings"];
  root.removeMember("findings");
  const auto strings = [](const std::vector<std::string>& all) {
    Json::Value list(Json::arrayValue);
    for (const std::string& s : all) list.append(s);
    return list;
  };
  Json::Value components(Json::arrayValue);
  for (const FourWayIdentity& identity : report.identities) {
    Json::Value entry(Json::objectValue);
    entry["component"] = identity.component;
    entry["username"] = identity.user.name;
    entry["requests"] = Json::Int64(identity.requests);
    entry["tokens"] = Json::Int64(identity.tokens);
    Json::Value& rules = entry["rules"] = Json::Value(Json::arrayValue);
    for (const FourWayRow& row : identity.rows) {
      Json::Value rule(Json::objectValue);
      rule["verb"] = row.rule.verbs.front();
      if (row.rule.non_resource_urls.empty()) {
        rule["group"] = row.rule.api_groups.front();
        rule["resource"] = row.rule.resources.front();
      } else {
        rule["url"] = row.rule.non_resource_urls.front();
      }
      if (!row.rule.resource_names.empty()) rule["name"] = row.rule.resource_names.front();
      if (!row.ns.empty()) rule["namespace"] = row.ns;
      rule["declared"] = strings(row.declared);
      if (row.implicit) rule["implicit"] = true;
      if (row.compiled) rule["compiled"] = *row.compiled;
      rule["used"] = Json::Int64(row.used);
      if (row.granted) rule["granted"] = *row.granted;
      rule["remark"] = VerdictWords(row.verdict);
      rules.append(rule);
    }
    components.append(entry);
  }
  root["components"] = components;
  Json::Value findings(Json::arrayValue);
  for (const Finding& f : report.findings) {
    Json::Value entry(Json::objectValue);
    entry["kind"] = f.kind;
    if (!f.component.empty()) entry["component"] = f.component;
    entry["text"] = f.text;
    findings.append(entry);
  }
  root["findings"] = findings;
  root["notes"] = strings(report.notes);
  root["first"] = trace.first;
  root["last"] = trace.last;
  return PrintableJson(WriteJson(root)) + "\n";
}

}  // namespace mandate::rbacgen
