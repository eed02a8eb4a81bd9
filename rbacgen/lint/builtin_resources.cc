#include "rbacgen/lint/builtin_resources.h"

#include <jsoncpp/json/json.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "absl/strings/str_join.h"
#include "manager/core/closest_name.h"
#include "manager/object/json.h"

namespace mandate::rbacgen {
namespace {

// The discovery documents that Kubernetes publishes, with all features enabled: one of the API
// groups, and one of the core group in the older format.
constexpr std::string_view kGroups =
#include "rbacgen/lint/discovery_groups.inc"
    ;
constexpr std::string_view kCore =
#include "rbacgen/lint/discovery_core.inc"
    ;

// Constrained impersonation uses the verb "impersonate:" and the kind of the identity.
constexpr std::string_view kImpersonate = "impersonate";

constexpr BuiltinResource kNeverServed[] = {
    {"", "users", false, kImpersonate},
    {"", "groups", false, kImpersonate},
    {"", "nodes/checkpoint", false, "create"},
    {"", "nodes/configz", false, "get"},
    {"", "nodes/healthz", false, "get"},
    {"", "nodes/log", false, "get"},
    {"", "nodes/metrics", false, "create get"},
    {"", "nodes/pods", false, "get"},
    {"", "nodes/spec", false, "get"},
    {"", "nodes/stats", false, "create get"},
    {"authentication.k8s.io", "groups", false, kImpersonate},
    {"authentication.k8s.io", "nodes", false, kImpersonate},
    {"authentication.k8s.io", "serviceaccounts", true, kImpersonate},
    {"authentication.k8s.io", "uids", false, kImpersonate},
    {"authentication.k8s.io", "userextras", false, kImpersonate},
    {"authentication.k8s.io", "users", false, kImpersonate},
    {"certificates.k8s.io", "signers", false, "approve attest sign"},
    {"policy", "podsecuritypolicies", true, "use"},
};

// Points into itself.
struct Tables {
  struct Entry {
    bool namespaced = false;
    std::set<std::string> verbs;  // of every version
    std::string text;             // the verbs, separated by blanks
  };

  Tables() {
    const Json::Value core = ParseJson(kCore).value();
    for (const Json::Value& r : core["resources"]) {
      Add("", r["name"].asString(), r["namespaced"].asBool(), r);
    }
    const Json::Value groups = ParseJson(kGroups).value();
    for (const Json::Value& group : groups["items"]) {
      const std::string name = group["metadata"]["name"].asString();
      for (const Json::Value& version : group["versions"]) {
        for (const Json::Value& r : version["resources"]) {
          const std::string plural = r["resource"].asString();
          const bool namespaced = r["scope"].asString() == "Namespaced";
          Add(name, plural, namespaced, r);
          for (const Json::Value& sub : r["subresources"]) {
            Add(name, plural + "/" + sub["subresource"].asString(), namespaced, sub);
          }
        }
      }
    }
    for (auto& [key, entry] : entries) {
      entry.text = absl::StrJoin(entry.verbs, " ");
      resources.push_back({key.first, key.second, entry.namespaced, entry.text});
    }
    resources.insert(resources.end(), std::begin(kNeverServed), std::end(kNeverServed));
    for (const auto& [key, name] : names) short_names.push_back({key.first, key.second, name});
  }

  using Key = std::pair<std::string, std::string>;  // group, resource

  // `described` is a resource or subresource, in either format.
  void Add(std::string_view group, const std::string& resource, bool namespaced,
           const Json::Value& described) {
    const Key key(group, resource);
    Entry& entry = entries[key];
    entry.namespaced = namespaced;
    for (const Json::Value& verb : described["verbs"]) entry.verbs.insert(verb.asString());
    for (const Json::Value& name : described["shortNames"]) names.emplace(key, name.asString());
  }

  std::map<Key, Entry> entries;
  std::set<std::pair<Key, std::string>> names;
  std::vector<BuiltinResource> resources;
  std::vector<BuiltinShortName> short_names;
};

const Tables& AllTables() {
  static const Tables* const kTables = new Tables();
  return *kTables;
}

}  // namespace

std::span<const BuiltinResource> BuiltinResources() { return AllTables().resources; }
std::span<const BuiltinShortName> BuiltinShortNames() { return AllTables().short_names; }

bool IsBuiltinGroup(std::string_view group) {
  return std::ranges::any_of(BuiltinResources(),
                             [&](const BuiltinResource& r) { return r.group == group; });
}

const BuiltinResource* FindBuiltin(std::string_view group, std::string_view resource) {
  for (const BuiltinResource& r : BuiltinResources()) {
    if (r.group == group && r.resource == resource) return &r;
  }
  constexpr std::string_view kFinalizers = "/finalizers";
  static constexpr BuiltinResource kAnyFinalizers = {"", "finalizers", true, "update"};
  static constexpr BuiltinResource kAnyClusterFinalizers = {"", "finalizers", false, "update"};
  if (!resource.ends_with(kFinalizers)) return nullptr;
  resource.remove_suffix(kFinalizers.size());
  const BuiltinResource* of = FindBuiltin(group, resource);
  if (of == nullptr) return nullptr;
  return of->namespaced ? &kAnyFinalizers : &kAnyClusterFinalizers;
}

const BuiltinResource* NearestBuiltin(std::span<const std::string> groups,
                                      std::string_view resource) {
  // In a short word, two changed letters would make a different word.
  const size_t limit = resource.size() < 5 ? 1 : 2;
  const BuiltinResource* nearest = nullptr;
  size_t best = 2 * limit + 2;
  for (const BuiltinResource& r : BuiltinResources()) {
    const size_t distance = EditDistance(resource, r.resource);
    if (distance > limit) continue;
    const bool of_groups =
        std::any_of(groups.begin(), groups.end(), [&](std::string_view g) { return g == r.group; });
    const size_t score = 2 * distance + (of_groups ? 0 : 1);
    if (score >= best) continue;
    best = score;
    nearest = &r;
  }
  return nearest;
}

bool KnowsVerb(const BuiltinResource& resource, std::string_view verb) {
  for (std::string_view rest = resource.verbs; !rest.empty();) {
    const size_t end = std::min(rest.find(' '), rest.size());
    const std::string_view known = rest.substr(0, end);
    // Constrained impersonation, such as impersonate:serviceaccount.
    if (verb == known || (known == kImpersonate && verb.starts_with("impersonate:"))) return true;
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return false;
}

}  // namespace mandate::rbacgen
