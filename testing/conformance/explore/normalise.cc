#include "testing/conformance/explore/normalise.h"

#include <re2/re2.h>

#include <algorithm>
#include <set>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "manager/core/strings.h"
#include "manager/object/json.h"
#include "testing/conformance/body.h"

namespace mandate::conformance::explore {
namespace {

// Members whose values are times of the server.
bool IsTime(std::string_view key) {
  static const auto* const kKeys =
      new std::set<std::string_view>{"creationTimestamp", "deletionTimestamp", "time",
                                     "expirationTimestamp", "lastTransitionTime"};
  return kKeys->contains(key);
}

void Sort(Json::Value& list) {
  std::vector<std::pair<std::string, Json::Value>> sorted;
  for (const Json::Value& entry : list) sorted.emplace_back(WriteJson(entry), entry);
  std::sort(sorted.begin(), sorted.end(),
            [](const auto& a, const auto& b) { return a.first < b.first; });
  for (Json::ArrayIndex i = 0; i < list.size(); ++i) list[i] = sorted[i].second;
}

// Keeps the first of equal entries.
void DropRepeated(Json::Value& list) {
  Json::Value kept(Json::arrayValue);
  for (const Json::Value& entry : list) {
    if (std::find(kept.begin(), kept.end(), entry) == kept.end()) kept.append(entry);
  }
  list = kept;
}

// The server lists the managers of a conflict in any order, but the fields of one manager in order.
void SortConflicts(Json::Value& causes) {
  std::vector<Json::Value> sorted(causes.begin(), causes.end());
  for (const Json::Value& cause : sorted) {
    const Json::Value* reason = FindMember(cause, "reason");
    if (reason == nullptr || *reason != "FieldManagerConflict") return;
  }
  std::stable_sort(sorted.begin(), sorted.end(), [](const auto& a, const auto& b) {
    return WriteJson(a["message"]) < WriteJson(b["message"]);
  });
  for (Json::ArrayIndex i = 0; i < causes.size(); ++i) causes[i] = sorted[i];
}

// The server checks the members of a custom object in any order, which shows in the causes and in
// the message.
void SortCauses(Json::Value& body) {
  Json::Value& details = body["details"];
  if (details["group"] != "explore.example.com" || !body["message"].isString()) return;
  const auto joined = [&details] {
    std::string text;
    for (const Json::Value& cause : details["causes"]) {
      StrAppend(&text, text.empty() ? "" : ", ", cause["field"].asString(), ": ",
                cause["message"].asString());
    }
    return StrCat("[", text, "]");
  };
  const std::string said = joined(), message = body["message"].asString();
  if (!absl::EndsWith(message, said)) return;
  Sort(details["causes"]);
  body["message"] = message.substr(0, message.size() - said.size()) + joined();
}

// In protobuf, an empty list has no items, so the kind also counts.
bool IsList(const Json::Value& value) {
  const Json::Value* kind = FindMember(value, "kind");
  return FindMember(value, "items") != nullptr ||
         (kind != nullptr && kind->isString() && absl::EndsWith(kind->asString(), "List"));
}

// Removes zero values: Kubernetes' protobuf always writes some members that JSON omits.
void DropZeros(Json::Value& value) {
  for (Json::Value& element : value) DropZeros(element);
  if (!value.isObject()) return;
  for (const std::string& name : value.getMemberNames()) {
    const Json::Value& member = value[name];
    if (member == Json::Value("") || member == Json::Value(0) || member == Json::Value(false) ||
        member.isNull()) {
      value.removeMember(name);
    }
  }
}

// Sorts the lists whose order the API does not define, and removes the members that the double
// omits (docs/apiserver-double.md).
void Forgive(Json::Value& body) {
  const Json::Value* kind = FindMember(body, "kind");
  if (kind == nullptr || !kind->isString()) return;
  const std::string name = kind->asString();
  if (absl::EndsWith(name, "Review") || name == "TokenRequest") body.removeMember("metadata");
  if (absl::EndsWith(name, "AccessReview") && body["status"].isObject()) {
    // The server checks its bindings in any order, and three bindings that always exist grant the
    // same permissions to the same group.
    static const RE2 kAnyOfThree(
        "ClusterRoleBinding \"system:(?:discovery|basic-user|public-info-viewer)\" of ClusterRole "
        "\"system:(?:discovery|basic-user|public-info-viewer)\" to Group "
        "\"system:authenticated\"");
    // The missing roles depend on the current ClusterRoleBindings of other sequences.
    const Json::Value* reason = FindMember(body["status"], "reason");
    if (reason != nullptr && absl::StrContains(reason->asString(), "not found")) {
      body["status"].removeMember("reason");
    } else if (reason != nullptr) {
      std::string text = reason->asString();
      RE2::GlobalReplace(&text, kAnyOfThree, "a ClusterRoleBinding that is always there");
      body["status"]["reason"] = text;
    }
  }
  if (name == "SelfSubjectReview" && body["status"]["userInfo"].isObject()) {
    // The real administrator has the id of a certificate; the double's has a token.
    Json::Value& user = body["status"]["userInfo"];
    constexpr char kCredential[] = "authentication.kubernetes.io/credential-id";
    const Json::Value* extra = FindMember(user, "extra");
    const Json::Value* id = extra == nullptr ? nullptr : FindMember(*extra, kCredential);
    if (id != nullptr && absl::StrContains(WriteJson(*id), "X509SHA256=")) {
      user["extra"].removeMember(kCredential);
      if (user["extra"].empty()) user.removeMember("extra");
    }
  }
  if (name == "SelfSubjectRulesReview" && body["status"].isObject()) {
    for (const char* rules : {"resourceRules", "nonResourceRules"}) Sort(body["status"][rules]);
  }
  if (name == "Status" && body["details"].isObject() && body["details"]["causes"].isArray()) {
    DropRepeated(body["details"]["causes"]);
    SortCauses(body);
    SortConflicts(body["details"]["causes"]);
  }
  if (name == "APIVersions") body.removeMember("serverAddressByClientCIDRs");
  if (name == "APIResourceList") {
    for (Json::Value& resource : body["resources"]) resource.removeMember("storageVersionHash");
  }
}

}  // namespace

std::string Said::Fill(std::string_view text) const {
  std::string filled(text);
  for (size_t start; (start = filled.find("@{")) != std::string::npos;) {
    const size_t end = filled.find('}', start);
    const std::string what = filled.substr(start + 2, end - start - 2);
    const auto known = known_.find(what);
    const std::string value = what == "ns"            ? ns_
                              : known != known_.end() ? known->second
                              : absl::StartsWith(what, "uid")
                                  ? "00000000-0000-4000-8000-000000000000"
                                  : "1";
    filled.replace(start, end + 1 - start, value);
  }
  return filled;
}

std::string Said::Symbol(const char* of, const std::string& value) {
  std::string& symbol = symbols_[StrCat(of, " ", value)];
  if (symbol.empty()) symbol = StrCat("<", of, " ", ++counts_[of], ">");
  return symbol;
}

void Said::Learn(const Json::Value& object) {
  const Json::Value* metadata = FindMember(object, "metadata");
  if (metadata == nullptr || !metadata->isObject()) return;
  const auto text = [&](const char* key) {
    const Json::Value* member = FindMember(*metadata, key);
    return member != nullptr && member->isString() ? member->asString() : "";
  };
  const std::string version = text("resourceVersion");
  int64_t number = 0;
  if (absl::SimpleAtoi(version, &number)) newest_ = std::max(newest_, number);
  if (IsList(object)) {
    known_["listrv"] = version;
    if (const std::string next = text("continue"); !next.empty()) known_["continue"] = next;
    if (const Json::Value* items = FindMember(object, "items")) {
      for (const Json::Value& item : *items) Learn(item);
    }
    return;
  }
  std::string name = text("name");
  if (name.empty() || version.empty()) return;
  if (absl::StartsWith(name, StrCat(ns_, "-"))) name = name.substr(ns_.size() + 1);
  known_["rv:" + name] = version;
  known_.emplace("rv0:" + name, version);
  known_["uid:" + name] = text("uid");
}

std::string Said::Text(std::string text) const {
  static const RE2 kUid("[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}");
  static const RE2 kGenerated("\\b(gen-[a-z]{4}-)[a-z0-9]{5}\\b");
  static const RE2 kVersions("(ResourceVersion in (?:record|the precondition) \\()\\d+\\)");
  static const RE2 kTooOld(
      "(too (?:old|large) resource version: )\\d+(?: \\(\\d+\\)|, current: \\d+)?");
  // The error of a review prints its metadata, in which the double sets no managers.
  static const RE2 kManagers(",\"managedFields\":\\[.*\\](\\}: must be empty)");
  RE2::GlobalReplace(&text, kManagers, "\\1");
  RE2::GlobalReplace(&text, kUid, "<uid>");
  RE2::GlobalReplace(&text, kGenerated, "\\1<any>");
  RE2::GlobalReplace(&text, kTooOld, "\\1<rv>");
  RE2::GlobalReplace(&text, kVersions, "\\1<rv>)");
  for (size_t at; (at = text.find(ns_)) != std::string::npos;) text.replace(at, ns_.size(), "<ns>");
  return text;
}

void Said::Normalise(Json::Value& value, std::string_view key, bool of_list) {
  if (value.isArray()) {
    for (Json::Value& element : value) Normalise(element, "", false);
    if (key == "managedFields") Sort(value);  // by time, of one second or of two
  } else if (value.isObject()) {
    const bool list = IsList(value);
    for (const std::string& name : value.getMemberNames()) {
      Normalise(value[name], name, name == "metadata" ? list : of_list);
    }
  } else if (value.isString()) {
    const std::string text = value.asString();
    if (text.empty()) return;
    if (key == "uid") {
      value = Symbol("uid", text);
    } else if (key == "resourceVersion") {
      value = of_list ? "<rv>" : Symbol("rv", text);
    } else if (key == "continue" || key == "token") {
      value = StrCat("<", key, ">");
    } else if (IsTime(key)) {
      value = "<time>";
    } else {
      value = Text(text);
    }
  }
}

std::string Said::Answer(const Response& response) {
  std::string answer = StrCat(response.code);
  for (const char* header : {"content-type", "warning", "retry-after", "cache-control", "allow"}) {
    const auto [from, to] = response.headers.equal_range(header);
    for (auto it = from; it != to; ++it) StrAppend(&answer, "\n", header, ": ", Text(it->second));
  }
  absl::StatusOr<Json::Value> body = DecodeBody(response.body, response.Header("content-type"));
  if (!body.ok()) return StrCat(answer, "\n", Text(response.body));
  Learn(*body);
  Forgive(*body);
  if (response.Header("content-type").starts_with(kProtobufType)) DropZeros(*body);
  Normalise(*body, "", false);
  return StrCat(answer, "\n", WriteJson(*body));
}

std::string Said::Event(Json::Value event) {
  DropZeros(event);
  const Json::Value* object = FindMember(event, "object");
  const Json::Value* type = FindMember(event, "type");
  if (object != nullptr && type != nullptr && *type == "BOOKMARK") {
    event["object"]["metadata"]["resourceVersion"] = "<rv>";
    return Text(WriteJson(event));
  }
  Normalise(event, "", false);
  return WriteJson(event);
}

}  // namespace mandate::conformance::explore
