#include "rbacgen/fence_policy.h"

#include <cctype>
#include <utility>

#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "manager/core/strings.h"
#include "rbacgen/admission_policy.h"

namespace mandate::rbacgen {
namespace {

using Strings = std::vector<std::string>;

// Deletes have no object, and creates no old one.
constexpr char kObjects[] =
    "request.operation == \"CREATE\" ? [object] : "
    "request.operation == \"DELETE\" ? [oldObject] : [object, oldObject]";

std::string Literal(std::string_view text) {
  return StrCat("\"", absl::StrReplaceAll(AsAbsl(text), {{"\\", "\\\\"}, {"\"", "\\\""}}), "\"");
}

std::string PatternCel(std::string_view pattern, std::string_view text) {
  const size_t star = pattern.find('*');
  if (star == pattern.npos) return StrCat(text, " == ", Literal(pattern));
  if (pattern == "*") return "true";
  const std::string_view rest = pattern.substr(star + 1);
  if (rest.empty()) return StrCat(text, ".startsWith(", Literal(pattern.substr(0, star)), ")");
  if (star == 0 && rest.find('*') == rest.npos) {
    return StrCat(text, ".endsWith(", Literal(rest), ")");
  }
  std::string regex;
  for (const char c : pattern) {
    if (c == '*') {
      regex += ".*";
    } else {
      // RE2 takes a backslash before any punctuation for the character itself.
      if (std::ispunct(static_cast<unsigned char>(c)) != 0) regex += '\\';
      regex += c;
    }
  }
  return StrCat(text, ".matches(", Literal(StrCat("^", regex, "$")), ")");
}

std::string Any(const Strings& terms) {
  return terms.size() == 1 ? terms[0] : StrCat("(", AsStd(absl::StrJoin(terms, " || ")), ")");
}

// `term` makes an expression of a pattern without its "!".
template <class Term>
std::string Combine(const Strings& patterns, Term term) {
  Strings allowed, excluded;
  for (const std::string_view pattern : patterns) {
    if (pattern.starts_with('!')) {
      excluded.push_back(term(pattern.substr(1)));
    } else {
      allowed.push_back(term(pattern));
    }
  }
  Strings all;
  if (!allowed.empty()) all.push_back(Any(allowed));
  if (!excluded.empty()) all.push_back(StrCat("!(", AsStd(absl::StrJoin(excluded, " || ")), ")"));
  return absl::StrJoin(all, " && ");
}

std::string RoleRefsCel(const Strings& patterns) {
  return Combine(patterns, [](std::string_view pattern) {
    const size_t slash = pattern.find('/');
    if (slash == pattern.npos) return PatternCel(pattern, "object.roleRef.name");
    return StrCat("(object.roleRef.kind == ", Literal(pattern.substr(0, slash)), " && ",
                  PatternCel(pattern.substr(slash + 1), "object.roleRef.name"), ")");
  });
}

std::string ControllerIs(std::string_view owner) {
  const size_t slash = owner.rfind('/');
  const std::string_view group = owner.substr(0, slash);
  const std::string version =
      group == "core" ? std::string("r.apiVersion == \"v1\"")
                      : StrCat("r.apiVersion.startsWith(", Literal(StrCat(group, "/")), ")");
  return StrCat("r.kind == ", Literal(owner.substr(slash + 1)), " && ", version);
}

std::string Controllers(std::string_view and_also) {
  return StrCat("o.metadata.?ownerReferences.orValue([]).exists(r, r.?controller.orValue(false)",
                and_also.empty() ? "" : " && ", and_also, ")");
}

std::string HasLabel(std::string_view label) {
  const size_t equals = label.find('=');
  const std::string key = Literal(label.substr(0, equals));
  const std::string there = StrCat(key, " in o.metadata.?labels.orValue({})");
  if (equals == label.npos) return there;
  return StrCat(there, " && o.metadata.labels[", key, "] == ", Literal(label.substr(equals + 1)));
}

FenceCheck Mine(const Fence& fence, std::string_view subject) {
  std::string mine, words;
  if (fence.owner.empty()) {
    mine = HasLabel(fence.label);
    words = StrCat("bear the label ", fence.label);
  } else if (fence.label.empty()) {
    mine = Controllers(ControllerIs(fence.owner));
    words = StrCat("have a controller of kind ", fence.owner);
  } else {
    mine = StrCat(Controllers(""), " ? ", Controllers(ControllerIs(fence.owner)), " : ",
                  HasLabel(fence.label));
    words =
        StrCat("have a controller of kind ", fence.owner, ", or none and the label ", fence.label);
  }
  return {StrCat("variables.objects.all(o, ", mine, ")"),
          StrCat(subject, " may only write objects that ", words)};
}

// A subject that is the requester, or a group of its.
constexpr char kSelf[] =
    "s.kind == \"ServiceAccount\" ? \"system:serviceaccount:\" + "
    "s.?namespace.orValue(object.metadata.?namespace.orValue(\"\")) + \":\" + s.name == "
    "request.userInfo.username : s.kind == \"Group\" ? s.name in request.userInfo.groups : "
    "s.name == request.userInfo.username";
// Or any ServiceAccount of the requester's namespace.
constexpr char kManager[] =
    "s.kind == \"ServiceAccount\" ? s.?namespace.orValue(object.metadata.?namespace.orValue(\"\")) "
    "== request.userInfo.username.split(\":\")[2] : s.kind == \"Group\" ? s.name in "
    "request.userInfo.groups : s.name.startsWith(\"system:serviceaccount:\" + "
    "request.userInfo.username.split(\":\")[2] + \":\")";

FenceCheck NeverSubject(const char* who, const char* words, std::string_view subject) {
  return {StrCat("request.operation == \"DELETE\" || !object.?subjects.orValue([]).exists(s, ", who,
                 ")"),
          StrCat(subject, " may never bind a role to ", words)};
}

std::string Listed(const Strings& patterns) { return absl::StrJoin(patterns, ", "); }

}  // namespace

std::string PatternsCel(const Strings& patterns, std::string_view text) {
  return Combine(patterns, [&](std::string_view pattern) { return PatternCel(pattern, text); });
}

std::vector<FenceCheck> FenceChecks(const Fence& fence, std::string_view component) {
  const std::string subject = StrCat("component ", component);
  std::vector<FenceCheck> checks;
  if (!fence.owner.empty() || !fence.label.empty()) checks.push_back(Mine(fence, subject));
  if (!fence.names.empty()) {
    checks.push_back({StrCat("request.operation != \"CREATE\" || (",
                             PatternsCel(fence.names, "object.metadata.name"), ")"),
                      StrCat(subject, " may only create objects with names of the pattern ",
                             Listed(fence.names))});
  }
  if (!fence.never_labels.empty()) {
    checks.push_back(
        {StrCat("request.operation == \"DELETE\" || "
                "!object.metadata.?labels.orValue({}).exists(k, ",
                PatternsCel(fence.never_labels, "k"), ")"),
         StrCat(subject, " may never set labels of the pattern ", Listed(fence.never_labels))});
  }
  if (!fence.role_refs.empty()) {
    checks.push_back(
        {StrCat("request.operation == \"DELETE\" || (", RoleRefsCel(fence.role_refs), ")"),
         StrCat(subject, " may only bind roles of the pattern ", Listed(fence.role_refs))});
  }
  if (fence.never_manager) {
    checks.push_back(NeverSubject(kManager, "the manager's own ServiceAccounts", subject));
  } else if (fence.never_self) {
    checks.push_back(NeverSubject(kSelf, "itself", subject));
  }
  return checks;
}

void AddFencePolicy(ObjectMaker& maker, const Fence& fence) {
  const ChartSwitches& switches = maker.switches();
  Strings operations;
  for (const std::string& verb : fence.verbs) {
    std::string& upper = operations.emplace_back();
    for (const unsigned char c : verb) upper += static_cast<char>(std::toupper(c));
  }
  Yaml::List validations;
  for (const FenceCheck& check : FenceChecks(fence, maker.component())) {
    validations.push_back(Validation(check.expression, check.message));
  }
  AddAdmissionPolicy(
      maker,
      {.id = fence.id.empty() ? absl::StrReplaceAll(absl::StrJoin(fence.resources, "-"),
                                                    {{"/", "-"}, {"*", "all"}})
                              : fence.id,
       .matches = "is-the-component",
       .groups = fence.groups,
       .operations = std::move(operations),
       .resources = fence.resources,
       .variables = Yaml::List{Yaml::Map{{"name", "objects"}, {"expression", kObjects}}},
       .validations = std::move(validations)},
      switches.Fences() && !switches.SingleMode());
}

}  // namespace mandate::rbacgen
