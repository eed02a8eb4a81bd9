// Prints guard_rows.h as JSON: the mandate's rules, and the guard's decision on each request.
#include "manager/client/testing/guard_rows.h"

#include <iostream>

#include "manager/client/guard.h"
#include "manager/core/printable.h"
#include "manager/core/strings.h"

namespace mandate {
namespace {

std::string Quoted(std::string_view text) {
  std::string quoted;
  AppendJsonString(text, quoted);
  return quoted;
}

std::string List(std::span<const std::string_view> items) {
  std::string text;
  for (std::string_view item : items) StrAppend(&text, text.empty() ? "" : ",", Quoted(item));
  return StrCat("[", text, "]");
}

std::string Rules() {
  std::string text;
  for (const rbac::MandateRule& r : kGuarded.rules) {
    StrAppend(&text, text.empty() ? "" : ",\n", R"({"namespace":)", Quoted(r.ns), R"(,"rule":{)",
              R"("verbs":)", List(r.rule.verbs));
    if (!r.rule.api_groups.empty()) StrAppend(&text, R"(,"apiGroups":)", List(r.rule.api_groups));
    if (!r.rule.resources.empty()) StrAppend(&text, R"(,"resources":)", List(r.rule.resources));
    if (!r.rule.resource_names.empty()) {
      StrAppend(&text, R"(,"resourceNames":)", List(r.rule.resource_names));
    }
    if (!r.rule.non_resource_urls.empty()) {
      StrAppend(&text, R"(,"nonResourceURLs":)", List(r.rule.non_resource_urls));
    }
    StrAppend(&text, "}}");
  }
  return text;
}

std::string Rows() {
  const Guard guard(kGuarded, GuardMode::kEnforce);
  std::string text;
  for (const GuardRow& row : kGuardRows) {
    const bool allowed = guard.Check(row.method, row.target, row.content_type).ok();
    const bool unlike = row.answer == GuardAnswer::kRejectedUnlikeServer ||
                        row.answer == GuardAnswer::kAllowedUnlikeServer;
    StrAppend(&text, text.empty() ? "" : ",\n", R"({"method":)", Quoted(row.method),
              R"(,"target":)", Quoted(row.target), R"(,"contentType":)", Quoted(row.content_type),
              R"(,"body":)", Quoted(row.body), R"(,"guard":)", allowed ? "true" : "false",
              R"(,"server":)", allowed != unlike ? "true" : "false", "}");
  }
  return text;
}

}  // namespace
}  // namespace mandate

int main() {
  std::cout << "{\"rules\":[\n"
            << mandate::Rules() << "],\n\"rows\":[\n"
            << mandate::Rows() << "]}\n";
}
