#include "rbacgen/ask/radius_report.h"

#include <algorithm>
#include <set>

#include "manager/core/printable.h"
#include "manager/core/strings.h"
#include "rbacgen/ask/rights_report.h"
#include "rbacgen/report/table.h"

namespace mandate::rbacgen {
namespace {

// Up to this number, each ServiceAccount of a namespace has its own row.
constexpr size_t kEachNamed = 3;

std::string NamespaceOf(const Step& step) {
  return step.from.empty() ? "" : step.gained.substr(0, step.gained.find('/') + 1);
}

std::vector<Step> Summarised(const std::vector<Step>& steps) {
  std::vector<Step> rows;
  for (size_t at = 0; at < steps.size();) {
    const Step& first = steps[at];
    const std::string ns = NamespaceOf(first);  // "kube-system/"
    size_t end = at + 1;
    while (!ns.empty() && end < steps.size() && NamespaceOf(steps[end]) == ns &&
           steps[end].from == first.from && steps[end].how == first.how) {
      ++end;
    }
    if (end - at > kEachNamed) {
      rows.push_back({StrCat(end - at, " ServiceAccounts of ", ns.substr(0, ns.size() - 1)),
                      first.from, first.how, first.severity});
    } else {
      rows.insert(rows.end(), steps.begin() + at, steps.begin() + end);
    }
    at = end;
  }
  return rows;
}

std::string SeverityWord(const Step& step) {
  return std::string(step.severity.has_value() ? rbac::SeverityName(*step.severity) : "-");
}

Json::Value StepsJson(const std::vector<Step>& steps) {
  Json::Value list(Json::arrayValue);
  for (const Step& s : steps) {
    Json::Value entry(Json::objectValue);
    entry["reached"] = s.gained;
    if (!s.from.empty()) entry["from"] = s.from;
    if (!s.how.empty()) entry["right"] = s.how;
    if (s.severity.has_value()) entry["severity"] = SeverityWord(s);
    list.append(entry);
  }
  return list;
}

std::vector<Step> Beyond(const BlastRadius& less, const BlastRadius& more) {
  std::set<std::string> known;
  for (const Step& s : less.steps) known.insert(s.gained);
  std::vector<Step> beyond;
  std::ranges::copy_if(more.steps, std::back_inserter(beyond),
                       [&](const Step& s) { return !known.contains(s.gained); });
  return beyond;
}

}  // namespace

std::string RadiusText(const BlastRadius& radius) {
  Table table({{"REACHED"}, {"FROM"}, {"SEVERITY"}, {"PERMISSION"}}, /*colour=*/false);
  for (const Step& s : Summarised(radius.steps)) {
    table.Add({s.gained, s.from.empty() ? "(the start)" : s.from, SeverityWord(s),
               s.how.empty() ? "-" : s.how});
  }
  const std::string rights = RightsText("  ", radius.rights, true);
  return StrCat(table.Write(), "\nTogether they may\n",
                rights.empty() ? "  do nothing beyond the permissions of every user\n" : rights);
}

Json::Value RadiusJson(const BlastRadius& radius) {
  Json::Value root(Json::objectValue);
  root["everything"] = radius.everything;
  root["steps"] = StepsJson(radius.steps);
  root["rights"] = RightsJson(radius.rights);
  return root;
}

RadiusDiff DiffRadii(const BlastRadius& before, const BlastRadius& now) {
  // An identity that may do anything to every resource can give itself the other rights.
  const auto gained = [](const BlastRadius& less, const BlastRadius& more) {
    return less.everything ? RightsByNamespace() : Gained(less.rights, more.rights);
  };
  return {.everything_before = before.everything,
          .everything = now.everything,
          .added = Beyond(before, now),
          .removed = Beyond(now, before),
          .gained = gained(before, now),
          .lost = gained(now, before)};
}

std::string RadiusDiffText(std::string_view lead, const RadiusDiff& diff) {
  std::string text;
  for (const Step& s : Summarised(diff.added)) {
    StrAppend(&text, lead, "+ reaches ", Printable(s.gained));
    if (!s.from.empty()) {
      StrAppend(&text, s.how.empty() ? ", through " : ", because ", Printable(s.from));
    }
    StrAppend(&text, s.how.empty() ? "" : " may ", Printable(s.how),
              s.severity.has_value() ? StrCat(" (", SeverityWord(s), ")") : "", "\n");
  }
  text += RightsText(StrCat(lead, "+ may "), diff.gained, true);
  for (const Step& s : Summarised(diff.removed)) {
    StrAppend(&text, lead, "- no longer reaches ", Printable(s.gained), "\n");
  }
  return text + RightsText(StrCat(lead, "- may no longer "), diff.lost, false);
}

Json::Value RadiusDiffJson(const RadiusDiff& diff) {
  Json::Value root(Json::objectValue);
  root["everythingBefore"] = diff.everything_before;
  root["everything"] = diff.everything;
  root["added"] = StepsJson(diff.added);
  root["removed"] = StepsJson(diff.removed);
  root["gained"] = RightsJson(diff.gained);
  root["lost"] = RightsJson(diff.lost);
  return root;
}

}  // namespace mandate::rbacgen
