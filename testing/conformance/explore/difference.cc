#include "testing/conformance/explore/difference.h"

#include <jsoncpp/json/json.h>
#include <re2/re2.h>

#include <algorithm>
#include <set>
#include <utility>
#include <vector>

#include "absl/strings/str_split.h"
#include "manager/core/strings.h"
#include "manager/object/json.h"

namespace mandate::conformance::explore {
namespace {

// The two values at a path where they differ.
struct Part {
  std::string path;
  std::string real;
  std::string ours;
};

std::string Shown(const Json::Value* value) { return value == nullptr ? "" : WriteJson(*value); }

void Compare(const std::string& path, const Json::Value* real, const Json::Value* ours,
             std::vector<Part>& parts) {
  if (real != nullptr && ours != nullptr) {
    if (*real == *ours) return;
    if (real->isObject() && ours->isObject()) {
      std::set<std::string> names;
      for (const auto* side : {real, ours}) {
        for (const std::string& name : side->getMemberNames()) names.insert(name);
      }
      for (const std::string& name : names) {
        Compare(StrCat(path, ".", name), FindMember(*real, name), FindMember(*ours, name), parts);
      }
      return;
    }
    if (real->isArray() && ours->isArray() && real->size() == ours->size()) {
      for (Json::ArrayIndex i = 0; i < real->size(); ++i) {
        Compare(StrCat(path, "[", i, "]"), &(*real)[i], &(*ours)[i], parts);
      }
      return;
    }
  }
  parts.push_back({path, Shown(real), Shown(ours)});
}

std::vector<Part> Parts(const std::string& real, const std::string& ours) {
  const std::vector<std::string> a = absl::StrSplit(real, '\n'), b = absl::StrSplit(ours, '\n');
  std::vector<Part> parts;
  for (size_t i = 0; i < std::max(a.size(), b.size()); ++i) {
    const std::string left = i < a.size() ? a[i] : "", right = i < b.size() ? b[i] : "";
    if (left == right) continue;
    const auto x = ParseJson(left), y = ParseJson(right);
    if (x.ok() && y.ok() && x->isObject() && y->isObject()) {
      Compare("", &*x, &*y, parts);
    } else {
      parts.push_back({StrCat("line ", i), left, right});
    }
  }
  return parts;
}

}  // namespace

std::string Gist(const std::string& answer) {
  std::string gist = answer.substr(0, answer.find('\n'));
  const size_t body = answer.find("\n{");
  if (body == std::string::npos) return gist;
  const auto json = ParseJson(answer.substr(body + 1));
  const Json::Value* kind = json.ok() ? FindMember(*json, "kind") : nullptr;
  if (kind == nullptr || *kind != "Status") return gist;
  for (const char* member : {"reason", "message"}) {
    const Json::Value* value = FindMember(*json, member);
    if (value != nullptr && value->isString()) StrAppend(&gist, " ", value->asString());
  }
  return gist;
}

bool IsWording(const std::string& real, const std::string& ours) {
  static const RE2 kUnreadable(
      "the object provided is unrecognized|cannot be handled as a|error decoding patch|"
      "failed to create typed patch object|unable to convert unstructured object|error decoding "
      "YAML|"
      "patch: Invalid value|"
      "continue key is not valid|couldn't get version/kind");
  static const RE2 kCodeAndReason("(?s)^(\\d+).*\"reason\":\"(\\w+)\"");
  std::string codes[2], reasons[2];
  RE2::PartialMatch(real, kCodeAndReason, &codes[0], &reasons[0]);
  RE2::PartialMatch(ours, kCodeAndReason, &codes[1], &reasons[1]);
  return real.substr(0, 3) == ours.substr(0, 3) && reasons[0] == reasons[1] &&
         RE2::PartialMatch(Gist(real), kUnreadable);
}

std::string Difference::Signature() const {
  static const RE2 kQuoted("\"[^\"]*\""), kIndex("\\[\\d+\\]|line \\d+");
  constexpr size_t kMost = 120;
  static const RE2 kResource(
      "[A-Za-z]+\\.(rbac\\.authorization\\.k8s\\.io|coordination\\.k8s\\.io|explore\\.example\\."
      "com)|"
      "(configmap|secret|serviceaccount|namespace)s?\\b|\\b(Config[mM]ap|Secret|ServiceAccount|"
      "Widget|"
      "Lease|(Cluster)?Role(Binding)?)\\b");
  std::string signature = request.substr(0, request.find(' '));
  std::string gists[] = {Gist(real), Gist(ours)};
  for (std::string& gist : gists) {
    RE2::GlobalReplace(&gist, kQuoted, "…");
    RE2::GlobalReplace(&gist, kResource, "R");
    if (gist.size() > kMost) gist.resize(kMost);
  }
  if (gists[0] != gists[1])
    return StrCat(signature, "\n    real ", gists[0], "\n    ours ", gists[1]);
  std::set<std::string> paths;
  for (const Part& part : Parts(real, ours)) {
    std::string path = part.path;
    RE2::GlobalReplace(&path, kIndex, "[]");
    paths.insert(path);
  }
  StrAppend(&signature, "\n    both ", gists[0], ":");
  for (const std::string& path : paths) {
    StrAppend(&signature, " ", path);
    if (signature.size() > 4 * kMost) break;
  }
  return signature;
}

std::string Difference::Explain() const {
  std::string told = StrCat(request, "\n");
  for (const Part& part : Parts(real, ours)) {
    StrAppend(&told, "  ", part.path, "\n    - ", part.real, "\n    + ", part.ours, "\n");
  }
  return told;
}

}  // namespace mandate::conformance::explore
