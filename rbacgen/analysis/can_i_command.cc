// rbacgen can-i and who-can: what RBAC would answer, from sources, manifests or a cluster.
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
#include "rbacgen/analysis/commands.h"
#include "rbacgen/analysis/inputs.h"
#include "rbacgen/analysis/question.h"
#include "rbacgen/analysis/unresolved.h"
#include "rbacgen/audit/table.h"
#include "rbacgen/command.h"

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

// The world and the question; the exit code of a mistake, or 0.
int Read(const Flags& flags, World* world, rbac::Attributes* request) {
  if (const int error = ReadWorld(flags.inputs, flags.input, world)) return error;
  auto parsed = ParseQuestion(flags.question, *world);
  if (!parsed.ok()) {
    PrintMessage(AsStd(parsed.status().message()));
    return kExitUnknown;
  }
  *request = *std::move(parsed);
  // To standard error, so that the answer alone can be compared.
  if (flags.quiet) return 0;
  for (const std::string& doubt : QuestionDoubts(flags.question, *request)) {
    PrintMessage(doubt);
  }
  return 0;
}

// Says which bindings may allow the request, of this user or of anybody, and are not known. Whether
// there are any.
bool SayUnknown(const World& world, const Flags& flags, const rbac::Attributes& request,
                const rbac::UserInfo* user) {
  bool any = false;
  for (const UnresolvedBinding& binding : UnresolvedBindings(world)) {
    const bool applies = binding.ns.empty() || (request.is_resource_request &&
                                                (flags.all_namespaces || binding.ns == request.ns));
    const bool is_theirs =
        user == nullptr || std::ranges::any_of(binding.subjects, [&](const rbac::Subject& s) {
          return rbac::SubjectMatches(s, *user, binding.ns);
        });
    if (!applies || !is_theirs) continue;
    any = true;
    if (!flags.quiet) PrintMessage(binding.ToString());
  }
  return any;
}

// Says that Kubernetes' own roles decide, and not alike in all versions. Unknown, then.
void SayVersionDecides(const Flags& flags, bool newest_allows) {
  if (flags.quiet) return;
  const char* words[] = {"no", "yes"};
  PrintMessage(StrCat("Kubernetes' own roles decide: in 1.36 the answer is ", words[newest_allows],
                      ", in 1.30 ", words[!newest_allows],
                      "; ask the cluster (--input=cluster), or add its roles to the input"));
}

// Whether the input mentions the identity. If not, the name may be mistyped, and "no" would
// mislead. Kubernetes' own users are known.
bool IsMentioned(const World& world, const rbac::UserInfo& user) {
  if (const auto account = rbac::ParseServiceAccountUser(user.name)) {
    return world.accounts.contains({account->ns, account->name}) ||
           UserTitle(world, user.name) != StrCat(account->ns, "/", account->name);
  }
  const auto names = [&](const auto& binding) {
    return std::ranges::any_of(binding.subjects, [&](const rbac::Subject& s) {
      return s.kind == "User" && s.name == user.name;
    });
  };
  return user.name.starts_with("system:") ||
         std::ranges::any_of(world.policy.cluster_role_bindings, names) ||
         std::ranges::any_of(world.policy.role_bindings, names);
}

int CanI(const Flags& flags) {
  World world;
  rbac::Attributes request;
  if (const int error = Read(flags, &world, &request)) return kExitUnknown;
  const auto user = FindUser(world, flags.as, flags.groups);
  if (!user.ok()) {
    PrintMessage(AsStd(user.status().message()));
    return kExitUnknown;
  }
  const rbac::Decision decision = rbac::Authorizer(world.policy).Authorize(*user, request);
  if (world.in_oldest != nullptr &&
      rbac::Authorizer(*world.in_oldest).Authorize(*user, request).allowed != decision.allowed) {
    SayVersionDecides(flags, decision.allowed);
    if (!flags.quiet) std::cout << "unknown\n";
    return kExitUnknown;
  }
  if (!decision.allowed && SayUnknown(world, flags, request, &*user)) {
    if (!flags.quiet) std::cout << "unknown\n";
    return kExitUnknown;
  }
  if (!decision.allowed && flags.groups.empty() && !IsMentioned(world, *user)) {
    // Users are not objects: a cluster has no list of them.
    const bool may_exist = world.is_whole && !rbac::ParseServiceAccountUser(user->name);
    std::cerr << "rbacgen: " << flags.as
              << (may_exist ? " is no component here; taken as a user's name\n"
                            : " is no component, no ServiceAccount and no user of the input\n");
    if (!may_exist) return kExitUnknown;
  }
  if (!flags.quiet) std::cout << (decision.allowed ? "yes" : "no") << "\n";
  if (flags.quiet) return decision.allowed ? 0 : kExitFound;
  if (decision.allowed && !decision.reason.empty()) std::cerr << Printable(decision.reason) << "\n";
  for (const LaterGrant& later : world.later) {
    if (decision.allowed || later.component != flags.as) continue;
    for (const rbac::Rule& rule : later.rules) {
      if (!rbac::RuleAllows(rule, request)) continue;
      std::cerr << "not yet: its markers say that somebody else grants this (granted=external)\n";
      return kExitFound;
    }
  }
  return decision.allowed ? 0 : kExitFound;
}

struct Row {
  std::string subject, kind, ns;
  std::string names;  // of the objects; empty: any
  std::string binding;
  auto operator<=>(const Row&) const = default;
};

// Of which objects the rules allow the request: "" of any, or of the one that it names; else their
// names, where it names none. None: of no object.
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
    if (s.kind == "ServiceAccount" && subject_ns.empty()) continue;  // nobody
    const std::string subject = s.kind == "ServiceAccount"
                                    ? UserTitle(world, rbac::ServiceAccountUser(subject_ns, s.name))
                                    : s.name;
    rows->insert({subject, s.kind, ns, *names, binding.name});
  }
}

std::set<Row> RowsOf(const World& world, const rbac::Policy& policy, const Flags& flags,
                     const rbac::Attributes& request) {
  const rbac::Authorizer authorizer(policy);
  std::set<Row> rows;
  for (const auto& binding : policy.cluster_role_bindings) {
    AddRows(world, authorizer, binding, "", request, &rows);
  }
  for (const auto& binding : policy.role_bindings) {
    if (!request.is_resource_request) break;
    if (flags.all_namespaces || binding.ns == request.ns) {
      AddRows(world, authorizer, binding, binding.ns, request, &rows);
    }
  }
  return rows;
}

int WhoCan(const Flags& flags) {
  World world;
  rbac::Attributes request;
  if (const int error = Read(flags, &world, &request)) return error;
  std::set<Row> rows = RowsOf(world, world.policy, flags, request);
  bool unknown = SayUnknown(world, flags, request, nullptr);
  if (world.in_oldest != nullptr) {
    std::set<Row> in_oldest = RowsOf(world, *world.in_oldest, flags, request);
    if (in_oldest != rows) {
      unknown = true;
      PrintMessage(
          "Kubernetes' own roles decide, and 1.36 and 1.30 differ: listed is who can in either; "
          "ask "
          "the cluster (--input=cluster), or add its roles to the input");
    }
    rows.merge(in_oldest);
  }
  const int exit_code = unknown ? kExitUnknown : 0;
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
    std::cout << (unknown ? "unknown\n" : "nobody\n");
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
                      "The request's namespace; none: cluster scope, all namespaces");
  command->add_option("--subresource", flags->question.subresource, "Such as log, or status");
  command->add_option("--input", flags->inputs, "INPUTs to ask of; below")
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
      ->add_option("--as", flags->as, "A component, NAMESPACE/NAME of a ServiceAccount, or a user")
      ->required();
  command->add_option("--as-group", flags->groups, "Further groups")->allow_extra_args(false);
  command->add_flag("-q,--quiet", flags->quiet, "Answer by the exit code alone");
  AddQuestion(command, flags.get());
  command->footer(std::string("Example: rbacgen can-i --as=scope-instance create rolebindings -n "
                              "demo --input=controllers\n\n") +
                  kInputHelp);
  command->callback([flags, exit_code] { *exit_code = CanI(*flags); });
}

void AddWhoCanCommand(CLI::App& app, int* exit_code) {
  auto flags = std::make_shared<Flags>();
  CLI::App* command = app.add_subcommand(
      "who-can", "Who may do something, and by which binding; exit 2 where that is not all known");
  command->add_flag("-A,--all-namespaces", flags->all_namespaces, "In any namespace");
  command->add_flag("--json", flags->json, "Print JSON");
  AddQuestion(command, flags.get());
  command->footer(std::string("Members of system:masters may do everything, and are not listed.\n"
                              "Example: rbacgen who-can -A get secrets --input=cluster\n\n") +
                  kInputHelp);
  command->callback([flags, exit_code] { *exit_code = WhoCan(*flags); });
}

}  // namespace mandate::rbacgen
