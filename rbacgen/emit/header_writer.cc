#include "rbacgen/emit/header_writer.h"

#include <algorithm>
#include <cctype>
#include <map>
#include <utility>

#include "absl/status/status.h"
#include "manager/core/strings.h"
#include "rbacgen/markers/text.h"

namespace mandate::rbacgen {
namespace {

// Writes the tables of one component. Each list is an array; equal lists share one array.
class TableWriter {
 public:
  TableWriter(std::string constant, std::string* out)
      : constant_(std::move(constant)), out_(*out) {}

  void Write(const ComponentMandate& mandate) {
    std::string rules;
    for (const Grant& grant : mandate.grants) {
      for (const rbac::Rule& rule : grant.rules) {
        StrAppend(&rules, "    {.rule = {.verbs = ", List(rule.verbs),
                  ",\n              .api_groups = ", List(rule.api_groups),
                  ",\n              .resources = ", List(rule.resources),
                  ",\n              .resource_names = ", List(rule.resource_names),
                  ",\n              .non_resource_urls = ", List(rule.non_resource_urls),
                  "},\n     .ns = ", Quoted(grant.ns),
                  ",\n     .external = ", grant.external ? "true" : "false", "},\n");
      }
    }
    if (!rules.empty()) {
      StrAppend(&out_, "inline constexpr rbac::MandateRule ", constant_, "Rules[] = {\n", rules,
                "};\n");
    }
    if (mandate.webhooks.empty()) return;
    StrAppend(&out_, "inline constexpr rbac::DeclaredWebhook ", constant_, "Webhooks[] = {\n");
    for (const ServedWebhook& webhook : mandate.webhooks) {
      StrAppend(&out_, "    {", Quoted(webhook.path), ", ", webhook.mutating ? "true" : "false",
                ", ", Quoted(webhook.name), "},\n");
    }
    StrAppend(&out_, "};\n");
  }

 private:
  std::string List(const std::vector<std::string>& strings) {
    if (strings.empty()) return "{}";
    std::string items;
    for (const std::string& s : strings) StrAppend(&items, items.empty() ? "" : ", ", Quoted(s));
    const auto [it, is_new] = lists_.emplace(items, StrCat(constant_, "List", lists_.size()));
    if (is_new) {
      StrAppend(&out_, "inline constexpr std::string_view ", it->second, "[] = {", items, "};\n");
    }
    return it->second;
  }

  const std::string constant_;
  std::string& out_;
  std::map<std::string, std::string> lists_;  // from content to name
};

}  // namespace

std::string ConstantName(std::string_view component) {
  std::string name = "k";
  bool capital = true;
  for (const char c : component) {
    if (c != '-')
      name += capital ? static_cast<char>(std::toupper(static_cast<unsigned char>(c))) : c;
    capital = c == '-';
  }
  return name;
}

absl::StatusOr<std::string> WriteHeader(const std::vector<ComponentMandate>& mandates) {
  std::string tables, constants;
  std::map<std::string, std::string> names;  // from constant to component
  for (const ComponentMandate& mandate : mandates) {
    const std::string constant = ConstantName(mandate.name);
    if (const auto [it, is_new] = names.emplace(constant, mandate.name); !is_new) {
      return absl::InvalidArgumentError(StrCat("components ", it->second, " and ", mandate.name,
                                               " would both be ", constant,
                                               "; rename one of them"));
    }
    TableWriter(constant, &tables).Write(mandate);
    // An array must have an element.
    const std::string tables_of = StrCat("mandates_internal::", constant);
    const bool has_rules = std::ranges::any_of(
        mandate.grants, [](const Grant& grant) { return !grant.rules.empty(); });
    StrAppend(&constants, "inline constexpr rbac::Mandate ", constant, "{", Quoted(mandate.name),
              ", ", has_rules ? tables_of + "Rules" : "{}");
    if (!mandate.webhooks.empty()) StrAppend(&constants, ", ", tables_of, "Webhooks");
    StrAppend(&constants, "};\n");
  }
  return StrCat(kHeaderHeading, "from the markers of the components. Do not edit.\n",
                "#pragma once\n\n#include <string_view>\n\n",
                "#include \"manager/rbac/mandate.h\"\n\nnamespace mandate {\n",
                "namespace mandates_internal {\n\n", tables,
                "\n}  // namespace mandates_internal\n\n", constants,
                "\n}  // namespace mandate\n");
}

}  // namespace mandate::rbacgen
