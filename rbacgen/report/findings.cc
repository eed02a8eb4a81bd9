#include "rbacgen/report/findings.h"

#include <jsoncpp/json/json.h>

#include <algorithm>
#include <string_view>

#include "manager/core/printable.h"
#include "manager/core/strings.h"

namespace mandate::rbacgen {
namespace {

const char* LevelOf(const SourceFinding& finding) {
  return finding.severity == Severity::kError ? "error" : "warning";
}

std::string Write(const Json::Value& value) {
  Json::StreamWriterBuilder builder;
  builder["indentation"] = "  ";
  builder["emitUTF8"] = true;
  return PrintableJson(Json::writeString(builder, value)) + "\n";
}

// A path as a URI reference (RFC 3986).
std::string UriOf(std::string_view path) {
  static constexpr char kHex[] = "0123456789ABCDEF";
  std::string uri;
  for (const unsigned char c : path) {
    if (std::isalnum(c) || std::string_view("-._~/").find(c) != std::string_view::npos) {
      uri += static_cast<char>(c);
    } else {
      uri += {'%', kHex[c >> 4], kHex[c & 15]};
    }
  }
  return uri;
}

Json::Value SarifRules() {
  Json::Value rules(Json::arrayValue);
  for (const FindingRule& rule : kFindingRules) {
    Json::Value one;
    one["id"] = rule.id;
    one["shortDescription"]["text"] = rule.description;
    one["defaultConfiguration"]["level"] = "error";
    rules.append(one);
  }
  return rules;
}

}  // namespace

const FindingRule* RuleOf(std::string_view id) {
  return std::ranges::find(kFindingRules, id,
                           [](const FindingRule& r) { return std::string_view(r.id); });
}

void AddFindings(const Diagnostics& diagnostics, std::string_view rule,
                 std::vector<SourceFinding>* findings) {
  for (const auto& entry : diagnostics.entries()) {
    findings->push_back({RuleOf(rule), entry.severity, entry.place, entry.text, ""});
  }
}

std::string FindingsText(std::span<const SourceFinding> findings) {
  std::string text;
  for (const SourceFinding& finding : findings) {
    StrAppend(&text, Printable(finding.place.ToString()), ": ", LevelOf(finding), ": ",
              Printable(finding.message), " [", finding.rule->id, "]\n");
    for (std::string_view rest = finding.diff; !rest.empty();) {
      const size_t end = std::min(rest.find('\n'), rest.size());
      StrAppend(&text, "  ", Printable(rest.substr(0, end)), "\n");
      rest.remove_prefix(std::min(end + 1, rest.size()));
    }
  }
  return text;
}

std::string FindingsJson(std::span<const SourceFinding> findings) {
  Json::Value root;
  root["version"] = 1;
  root["findings"] = Json::arrayValue;
  int errors = 0;
  for (const SourceFinding& finding : findings) {
    errors += finding.severity == Severity::kError;
    Json::Value one;
    one["rule"] = finding.rule->id;
    one["level"] = LevelOf(finding);
    one["file"] = finding.place.file;
    if (finding.place.line > 0) one["line"] = finding.place.line;
    one["message"] = finding.message;
    if (!finding.diff.empty()) one["diff"] = finding.diff;
    root["findings"].append(one);
  }
  root["errors"] = errors;
  root["warnings"] = static_cast<int>(findings.size()) - errors;
  return Write(root);
}

std::string FindingsSarif(std::span<const SourceFinding> findings, const std::string& version) {
  Json::Value log;
  log["$schema"] = "https://json.schemastore.org/sarif-2.1.0.json";
  log["version"] = "2.1.0";
  Json::Value run;
  Json::Value& driver = run["tool"]["driver"];
  driver["name"] = "rbacgen";
  driver["version"] = version;
  driver["rules"] = SarifRules();
  run["originalUriBaseIds"]["%SRCROOT%"]["description"]["text"] = "The folder of rbacgen.yaml";
  run["columnKind"] = "utf16CodeUnits";
  run["results"] = Json::arrayValue;
  for (const SourceFinding& finding : findings) {
    Json::Value result;
    result["ruleId"] = finding.rule->id;
    result["ruleIndex"] = static_cast<int>(finding.rule - kFindingRules);
    result["level"] = LevelOf(finding);
    result["message"]["text"] = finding.message;
    Json::Value place;
    place["physicalLocation"]["artifactLocation"]["uri"] = UriOf(finding.place.file);
    place["physicalLocation"]["artifactLocation"]["uriBaseId"] = "%SRCROOT%";
    place["physicalLocation"]["region"]["startLine"] = std::max(1, finding.place.line);
    result["locations"].append(place);
    run["results"].append(result);
  }
  log["runs"].append(run);
  return Write(log);
}

}  // namespace mandate::rbacgen
