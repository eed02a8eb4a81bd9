// rbacgen can-i and who-can: the answers of RBAC, from sources, manifests or a cluster.
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <iostream>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <tuple>
#include <vector>

#include "absl/strings/str_join.h"
#include "manager/core/printable.h"
#include "manager/core/strings.h"
#include "manager/object/json.h"
#include "manager/rbac/authorizer.h"
#include "rbacgen/ask/known_users.h"
#include "rbacgen/ask/question.h"
#include "rbacgen/cli/command.h"
#include "rbacgen/cli/inputs.h"
#include "rbacgen/report/table.h"
#include "rbacgen/world/builtin_policy.h"
#include "rbacgen/world/unresolved.h"

namespace mandate::rbacgen {
namespace {

struct Flags {
  InputFlags input;
  std::vector<std::string> inputs = {"."};
  QuestionText question;
  std::string as;
  std::vector<std::string> groups;
  bool quiet = false;
  bool all_namespaces = false;
  bool json = false;
};

struct Asked {
  World world;
  rbac::Attributes request;
  bool is_open = false;  // the question may mean another request, so only "yes" is an answer
};

// Reads the world and the question. 0, or the exit code of a mistake.
int Read(const Flags& flags, Asked* asked) {
  if (const int error = ReadWorld(flags.inputs, flags.input, &asked->world)) return error;
  auto parsed = ParseQuestion(flags.question, asked->world);
  if (!parsed.ok()) {
    PrintMessage(AsStd(parsed.status().message()));
    return kExitUnknown;
  }
  asked->request = *std::move(parsed);
  // The messages go to standard error, so that a script can compare the answer alone; with --quiet
  // too, as in kubectl.
  for (const auto& doubt : QuestionDoubts(flags.question, asked->request, asked->world)) {
    PrintMessage(doubt.text);
    asked->is_open = asked->is_open || doubt.is_open;
  }
  return 0;
}

// Reports the bindings with unknown roles that may allow the request, to this user or, if `user` is
// null, to any subject. Returns whether there are any.
bool SayUnknown(const World& world, const Flags& flags, const rbac::Attributes& request,
                const rbac::UserInfo* user) {
  bool any = false;
  for (const UnresolvedBinding& binding : UnresolvedBindings(world)) {
    const bool applies = binding.ns.empty() || (request.is_resource_request &&
                                                (flags.all_namespaces || binding.ns == request.ns));
    if (!applies || (user != nullptr && !binding.Binds(*user))) continue;
    any = true;
    PrintMessage(binding.ToString());
  }
  return any;
}

// Reports that the answer depends on Kubernetes' own roles, which differ between versions, so that
// it is unknown.
void SayVersionDecides(bool newest_allows) {
  const char* words[] = {"no", "yes"};
  PrintMessage(StrCat("the answer depends on Kubernetes' own roles: in 1.36 it is ",
                      words[newest_allows], ", in 1.30 ", words[!newest_allows],
                      "; ask the cluster (--input=cluster), or add its roles to the input"));
}

// The namespaces in words: "shop, bank and 3 more".
std::string NamespaceWords(const std::set<std::string>& namespaces) {
  constexpr size_t kMax = 10;
  std::vector<std::string> words(namespaces.begin(), namespaces.end());
  if (words.size() <= kMax) return absl::StrJoin(words, ", ");
  const size_t more = words.size() - kMax;
  words.resize(kMax);
  return StrCat(absl::StrJoin(words, ", "), " and ", more, " more");
}

// Whether the request names no namespace and so concerns all of them. Then "no" does not exclude
// that the request is allowed in some namespaces.
bool AsksOfEveryNamespace(const rbac::Attributes& request) {
  return request.is_resource_request && request.ns.empty() && !IsOfNoNamespace(request);
}

// For a question about all namespaces: the namespaces in which the user may make the request.
std::set<std::string> NamespacesOf(const rbac::Authorizer& authorizer, const rbac::UserInfo& user,
                                   rbac::Attributes request) {
  std::set<std::string> namespaces;
  if (!AsksOfEveryNamespace(request)) return namespaces;
  for (const std::string& ns : authorizer.policy().BindingNamespaces()) {
    request.ns = ns;
    if (authorizer.Authorize(user, request).allowed) namespaces.insert(ns);
  }
  return namespaces;
}

int CanI(const Flags& flags) {
  Asked asked;
  if (const int error = Read(flags, &asked)) return error;
  const auto& [world, request, is_open] = asked;
  const auto user = FindUser(world, flags.as, flags.groups);
  if (!user.ok()) {
    PrintMessage(AsStd(user.status().message()));
    return kExitUnknown;
  }
  // Every cluster grants rights to Kubernetes' own users and to all users.
  World complete = world, oldest = world;
  AddBuiltinPolicy(BuiltinPolicy(), &complete);
  ResolveAggregates(&complete);
  if (world.in_oldest != nullptr) oldest.policy = *world.in_oldest;
  AddBuiltinPolicy(OldestBuiltinPolicy(), &oldest);
  ResolveAggregates(&oldest);
  const rbac::Authorizer authorizer(complete.policy);
  const rbac::Decision decision = authorizer.Authorize(*user, request);
  if (rbac::Authorizer(oldest.policy).Authorize(*user, request).allowed != decision.allowed) {
    SayVersionDecides(decision.allowed);
    if (!flags.quiet) std::cout << "unknown\n";
    return kExitUnknown;
  }
  if (decision.allowed) {
    if (flags.quiet) return 0;
    std::cout << "yes\n";
    if (!decision.reason.empty()) std::cerr << Printable(decision.reason) << "\n";
    return 0;
  }
  if (const auto known = CheckKnown(complete, flags.as, flags.groups); !known.ok()) {
    PrintMessage(AsStd(known.message()));
    return kExitUnknown;
  }
  if (SayUnknown(world, flags, request, &*user) || is_open) {
    if (!flags.quiet) std::cout << "unknown\n";
    return kExitUnknown;
  }
  if (flags.quiet) return kExitFound;
  std::cout << "no\n";
  if (const auto namespaces = NamespacesOf(authorizer, *user, request); !namespaces.empty()) {
    PrintMessage(StrCat("not in every namespace; only in: ", NamespaceWords(namespaces),
                        "; use -n to ask about one"));
  }
  for (const LaterGrant& later : world.later) {
    if (later.component != flags.as) continue;
    for (const rbac::Rule& rule : later.rules) {
      if (!rbac::RuleAllows(rule, request)) continue;
      std::cerr
          << "not yet: its markers declare that an administrator grants this (granted=external)\n";
      return kExitFound;
    }
  }
  return kExitFound;
}

struct Row {
  std::string subject, kind, ns;
  std::string names;  // names of the objects; empty: any object
  std::string binding;
  auto operator<=>(const Row&) const = default;
};

// The objects for which the rules allow the request: "" for the object that it names, or for any
// object; else the names of the objects, if the request names none. nullopt if the rules do not
// allow it for any object.
std::optional<std::string> NamesAllowed(std::span<const rbac::Rule> rules,
                                        const rbac::Attributes& request) {
  std::set<std::string> names;
  for (const rbac::Rule& rule : rules) {
    if (rbac::RuleAllows(rule, request)) return "";
    if (!request.name.empty()) continue;
    for (const std::string& name : rule.resource_names) {
      rbac::Attributes named = request;
      named.name = name;
      if (rbac::RuleAllows(rule, named)) names.insert(name);
    }
  }
  if (names.empty()) return std::nullopt;
  return absl::StrJoin(names, ", ");
}

template <class Binding>
void AddRows(const World& world, const rbac::Authorizer& authorizer, const Binding& binding,
             const std::string& ns, const rbac::Attributes& request, std::set<Row>* rows) {
  const auto rules = authorizer.Resolve(binding.role_ref, ns);
  if (!rules.ok()) return;
  const std::optional<std::string> names = NamesAllowed(*rules, request);
  if (!names.has_value()) return;
  for (const rbac::Subject& s : binding.subjects) {
    const std::string subject_ns = s.ns.empty() ? ns : s.ns;
    if (s.kind == "ServiceAccount" && subject_ns.empty())
      continue;  // without a namespace, the subject matches no ServiceAccount
    const std::string subject = s.kind == "ServiceAccount"
                                    ? UserTitle(world, rbac::ServiceAccountUser(subject_ns, s.name))
                                    : s.name;
    rows->insert({subject, s.kind, ns, *names, binding.name});
  }
}

// For a question about all namespaces: those in which RoleBindings allow the request, or may allow
// it.
std::string InSome(const World& world, const Flags& flags, const rbac::Attributes& request,
                   const std::set<std::string>& allowed) {
  if (!allowed.empty())
    return StrCat("in some: ", NamespaceWords(allowed), "; use -A to list the subjects");
  std::set<std::string> perhaps;
  for (const UnresolvedBinding& binding : UnresolvedBindings(world)) {
    const bool asked = flags.all_namespaces || !AsksOfEveryNamespace(request);
    if (!asked && !binding.ns.empty()) perhaps.insert(binding.ns);
  }
  if (perhaps.empty()) return "";
  return StrCat("perhaps in some: ", NamespaceWords(perhaps), "; use -A to see why");
}

struct Found {
  std::set<Row> rows;
  std::set<std::string> elsewhere;  // namespaces that the question does not name
};

Found Find(const World& world, const rbac::Policy& policy, const Flags& flags,
           const rbac::Attributes& request) {
  const rbac::Authorizer authorizer(policy);
  Found found;
  for (const auto& binding : policy.cluster_role_bindings) {
    AddRows(world, authorizer, binding, "", request, &found.rows);
  }
  for (const auto& binding : policy.role_bindings) {
    if (!request.is_resource_request) break;
    if (flags.all_namespaces || binding.ns == request.ns) {
      AddRows(world, authorizer, binding, binding.ns, request, &found.rows);
    } else if (AsksOfEveryNamespace(request)) {
      std::set<Row> its;
      AddRows(world, authorizer, binding, binding.ns, request, &its);
      if (!its.empty()) found.elsewhere.insert(binding.ns);
    }
  }
  return found;
}

// The subjects that Kubernetes' own bindings allow the request in every cluster: "Group
// system:monitoring and 3 more".
std::string OwnSubjects(const World& world, const Flags& flags, const rbac::Attributes& request) {
  World own = world;
  AddBuiltinPolicy(BuiltinPolicy(), &own);
  ResolveAggregates(&own);
  std::set<std::string> subjects;
  for (const Row& row : Find(own, own.policy, flags, request).rows) {
    // The help already explains that system:masters may do everything.
    if (row.subject != rbac::kMastersGroup) subjects.insert(StrCat(row.kind, " ", row.subject));
  }
  if (subjects.empty()) return "";
  return StrCat(*subjects.begin(),
                subjects.size() == 1 ? "" : StrCat(" and ", subjects.size() - 1, " more"));
}

int WhoCan(const Flags& flags) {
  Asked asked;
  if (const int error = Read(flags, &asked)) return error;
  const auto& [world, request, is_open] = asked;
  auto [rows, elsewhere] = Find(world, world.policy, flags, request);
  bool unknown = SayUnknown(world, flags, request, nullptr) || (rows.empty() && is_open);
  if (world.in_oldest != nullptr) {
    Found oldest = Find(world, *world.in_oldest, flags, request);
    if (oldest.rows != rows) {
      unknown = true;
      PrintMessage(
          "the answer depends on Kubernetes' own roles, which differ between 1.36 and 1.30: the "
          "list has the subjects of both; ask the cluster (--input=cluster), or add its roles to "
          "the input");
    }
    rows.merge(oldest.rows);
    elsewhere.merge(oldest.elsewhere);
  }
  const std::string in_some = InSome(world, flags, request, elsewhere);
  const int exit_code = unknown ? kExitUnknown : 0;
  const bool no_subject = rows.empty() && !unknown && !flags.json;
  if (!in_some.empty() && !no_subject) {
    PrintMessage(StrCat("the question is about every namespace; RoleBindings allow it ", in_some));
  }
  const std::string own = rows.empty() && !unknown ? OwnSubjects(world, flags, request) : "";
  if (!own.empty()) {
    PrintMessage(StrCat(
        "no subject in the input is allowed to do this; Kubernetes' own bindings allow it to ",
        own));
  }
  if (flags.json) {
    Json::Value list(Json::arrayValue);
    for (const Row& row : rows) {
      Json::Value entry(Json::objectValue);
      entry["subject"] = row.subject;
      entry["kind"] = row.kind;
      if (!row.ns.empty()) entry["namespace"] = row.ns;
      if (!row.names.empty()) entry["names"] = row.names;
      entry["binding"] = row.binding;
      list.append(entry);
    }
    const int error = Emit("-", PrintableJson(WriteJson(list)) + "\n");
    return error != 0 ? error : exit_code;
  }
  if (rows.empty()) {
    if (unknown) {
      std::cout << "unknown\n";
    } else {
      std::cout << (in_some.empty() ? "no subject" : "no subject in every namespace; ")
                << Printable(in_some) << "\n";
    }
    return exit_code;
  }
  const bool colour = isatty(STDOUT_FILENO) != 0 && std::getenv("NO_COLOR") == nullptr;
  Table table({{"SUBJECT"}, {"KIND"}, {"WHERE"}, {"BINDING"}}, colour);
  for (const Row& row : rows) {
    const std::string where = row.ns.empty() ? "everywhere" : row.ns;
    table.Add({row.subject, row.kind,
               row.names.empty() ? where : StrCat(where, ", named ", row.names),
               (row.ns.empty() ? "ClusterRoleBinding " : "RoleBinding ") + row.binding});
  }
  const int error = Emit("-", table.Write());
  return error != 0 ? error : exit_code;
}

void AddQuestion(CLI::App* command, Flags* flags) {
  command->add_option("VERB", flags->question.verb, "get, list, create, bind, …")->required();
  command
      ->add_option("RESOURCE", flags->question.resource,
                   "pods, Pod, po, deployments.apps, pods/NAME, or a path: /metrics")
      ->required();
  command->add_option("-n,--namespace", flags->question.ns,
                      "The request's namespace; the default is all namespaces, or cluster scope");
  command->add_option("--subresource", flags->question.subresource, "Such as log, or status");
  command->add_option("--input", flags->inputs, "INPUTs to read; see below")
      ->allow_extra_args(false)
      ->capture_default_str();
  flags->input.resource_names = true;
  AddInputFlags(command, Asks::kOfRequest, &flags->input);
}

}  // namespace

void AddCanICommand(CLI::App& app, int* exit_code) {
  auto flags = std::make_shared<Flags>();
  CLI::App* command = app.add_subcommand(
      "can-i",
      "Whether an identity may do something: yes (exit 0), no (exit 1), or unknown (exit 2)");
  command
      ->add_option("--as", flags->as,
                   "A component, NAMESPACE/NAME of a ServiceAccount, or a user; user:NAME for a "
                   "user that no binding has")
      ->required();
  command
      ->add_option("--as-group", flags->groups,
                   "More groups; group:NAME for a group that no binding has")
      ->allow_extra_args(false);
  command->add_flag("-q,--quiet", flags->quiet,
                    "Answer only by the exit code; standard error explains exit code 2");
  AddQuestion(command, flags.get());
  command->footer(std::string("Example: rbacgen can-i --as=scope-instance create rolebindings -n "
                              "demo --input=controllers\n\n") +
                  kInputHelp);
  command->callback([flags, exit_code] { *exit_code = CanI(*flags); });
}

void AddWhoCanCommand(CLI::App& app, int* exit_code) {
  auto flags = std::make_shared<Flags>();
  CLI::App* command = app.add_subcommand(
      "who-can",
      "List who may do something, and by which binding; exit 2 if the list may be incomplete");
  command->add_flag("-A,--all-namespaces", flags->all_namespaces, "In any namespace");
  command->add_flag("--json", flags->json, "Print JSON");
  AddQuestion(command, flags.get());
  command->footer(std::string("Members of system:masters may do everything, and are not listed.\n"
                              "Example: rbacgen who-can -A get secrets --input=cluster\n\n") +
                  kInputHelp);
  command->callback([flags, exit_code] { *exit_code = WhoCan(*flags); });
}

}  // namespace mandate::rbacgen
