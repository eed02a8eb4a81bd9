#include "testing/apiserver/list_query.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "absl/strings/escaping.h"
#include "absl/strings/numbers.h"
#include "manager/core/status_macros.h"
#include "manager/core/strings.h"
#include "manager/object/json.h"
#include "manager/rbac/quote.h"
#include "testing/apiserver/errors.h"
#include "testing/apiserver/label_query.h"
#include "testing/apiserver/object_meta.h"

namespace mandate::apiserver {
namespace {

// The fields, in addition to the names, that a kind supports in field selectors.
struct Selectable {
  std::string_view kind;
  std::string_view field;
};
constexpr std::array<Selectable, 14> kSelectable = {{{"Event", "involvedObject.kind"},
                                                     {"Event", "involvedObject.name"},
                                                     {"Event", "involvedObject.namespace"},
                                                     {"Event", "involvedObject.uid"},
                                                     {"Event", "reason"},
                                                     {"Event", "regarding.name"},
                                                     {"Event", "type"},
                                                     {"Namespace", "status.phase"},
                                                     {"Node", "spec.unschedulable"},
                                                     {"Pod", "spec.nodeName"},
                                                     {"Pod", "spec.serviceAccountName"},
                                                     {"Pod", "status.phase"},
                                                     {"ReplicaSet", "status.replicas"},
                                                     {"Secret", "type"}}};

std::vector<std::string> Split(std::string_view text, char separator) {
  std::vector<std::string> parts;
  for (;;) {
    const size_t end = text.find(separator);
    parts.emplace_back(text.substr(0, end));
    if (end == text.npos) return parts;
    text.remove_prefix(end + 1);
  }
}

bool IsSelectable(const ResourceType& type, std::string_view field) {
  if (field == "metadata.name") return true;
  if (field == "metadata.namespace") return type.kind != "Namespace";
  return std::any_of(kSelectable.begin(), kSelectable.end(), [&](const Selectable& one) {
    return one.kind == type.kind && one.field == field;
  });
}

bool HasOwnFields(const ResourceType& type) {
  return std::any_of(kSelectable.begin(), kSelectable.end(),
                     [&](const Selectable& one) { return one.kind == type.kind; });
}

std::string ValueAt(const Json::Value& object, const std::vector<std::string>& path) {
  const Json::Value* value = &object;
  for (const std::string& part : path) {
    value = FindMember(*value, part);
    if (value == nullptr) return "";
  }
  return value->isString() ? value->asString() : WriteJson(*value);
}

absl::StatusOr<std::optional<int64_t>> IntegerParameter(const Request& request,
                                                        std::string_view name) {
  const auto text = request.Query(name);
  if (!text) return std::optional<int64_t>();
  int64_t value = 0;
  if (!absl::SimpleAtoi(*text, &value)) {
    return BadRequest(StrCat("strconv.ParseInt: parsing ", rbac::Quote(*text), ": invalid syntax"));
  }
  return std::optional<int64_t>(value);
}

// Go's conversion of a query's booleans: any other value is true.
std::optional<bool> BooleanParameter(const Request& request, std::string_view name) {
  const auto text = request.Query(name);
  if (!text) return std::nullopt;
  return *text != "0" && *text != "false";
}

std::vector<Cause> CheckTogether(const Request& request, const ListQuery& query) {
  std::vector<Cause> causes;
  const std::string match = request.Query("resourceVersionMatch").value_or("");
  const bool continued = !request.Query("continue").value_or("").empty();
  const std::string version = request.Query("resourceVersion").value_or("");
  const auto forbid = [&](std::string_view field, std::string_view why) {
    causes.push_back(ForbiddenField(field, why));
  };
  const auto unsupported = [&](std::vector<std::string> supported) {
    causes.push_back(UnsupportedValue("resourceVersionMatch", rbac::Quote(match), supported));
  };
  // These rules do not apply to a watch by the old path.
  if (BooleanParameter(request, "watch").value_or(false)) {
    if (query.initial_events && match != "NotOlderThan") {
      forbid("resourceVersionMatch",
             "sendInitialEvents requires setting resourceVersionMatch to NotOlderThan");
    }
    if (!match.empty() && !query.initial_events) {
      forbid("resourceVersionMatch",
             "resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided");
    }
    if (!match.empty() && match != "NotOlderThan") unsupported({"NotOlderThan"});
    // A watch from the start implies an initial state, and thus a resourceVersionMatch.
    const bool from_start = !query.initial_events && (version.empty() || version == "0");
    if (continued && (!match.empty() || from_start)) {
      forbid("resourceVersionMatch", "resourceVersionMatch is forbidden when continue is provided");
    }
    return causes;
  }
  if (!match.empty()) {
    if (version.empty()) {
      forbid("resourceVersionMatch",
             "resourceVersionMatch is forbidden unless resourceVersion is provided");
    }
    if (continued) {
      forbid("resourceVersionMatch", "resourceVersionMatch is forbidden when continue is provided");
    }
    if (match != "Exact" && match != "NotOlderThan") unsupported({"Exact", "NotOlderThan", ""});
    if (match == "Exact" && version == "0") {
      forbid("resourceVersionMatch",
             "resourceVersionMatch \"exact\" is forbidden for resourceVersion \"0\"");
    }
  }
  if (query.initial_events) {
    forbid("sendInitialEvents", "sendInitialEvents is forbidden for list");
  }
  return causes;
}

// Whether a field selector has valid syntax. The fields of the kind are checked later.
absl::Status CheckFieldTerms(const std::string& text) {
  for (const std::string& term : Split(text, ',')) {
    if (!term.empty() && term.find('=') == term.npos) {
      return BadRequest(StrCat("invalid selector: '", text, "'; can't understand '", term, "'"));
    }
  }
  return absl::OkStatus();
}

absl::Status BadVersion(const std::string& text, bool watch) {
  const std::string why =
      StrCat("resourceVersion: Invalid value: ", rbac::Quote(text), ": strconv.ParseUint: parsing ",
             rbac::Quote(text), ": invalid syntax");
  return watch ? PlainError(why) : BadRequest(StrCat("invalid resource version: ", why));
}

}  // namespace

std::string Continuation::Encode() const {
  Json::Value token(Json::objectValue);
  token["v"] = "meta.k8s.io/v1";
  token["rv"] = Json::Int64{revision};
  token["start"] = after + std::string(1, '\0');
  return absl::WebSafeBase64Escape(WriteJson(token));
}

absl::StatusOr<Continuation> Continuation::Decode(std::string_view text) {
  std::string json;
  if (!absl::WebSafeBase64Unescape(AsAbsl(text), &json)) {
    constexpr std::string_view kLetters =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    const size_t wrong = std::min(text.find_first_not_of(kLetters), text.size() / 4 * 4);
    return BadRequest(StrCat(
        "invalid continue token: continue key is not valid: illegal base64 data at input byte ",
        wrong));
  }
  const auto token = ParseJson(json);
  if (token.ok() && token->isObject() && StringAt(*token, "v") != "meta.k8s.io/v1") {
    return BadRequest(
        StrCat("invalid continue token: continue key is not valid: server does not recognize this "
               "encoded version ",
               StringAt(*token, "v")));
  }
  const Json::Value* revision = token.ok() ? FindMember(*token, "rv") : nullptr;
  if (revision == nullptr || !revision->isInt64() || StringAt(*token, "start").empty()) {
    return BadRequest("invalid continue token: continue key is not valid: no such token was made");
  }
  Continuation out;
  out.revision = revision->asInt64();
  out.after = StringAt(*token, "start");
  if (!out.after.empty() && out.after.back() == '\0') out.after.pop_back();
  return out;
}

absl::StatusOr<ObjectFilter> ObjectFilter::Create(const Request& request,
                                                  const ResourceType& type) {
  ObjectFilter filter;
  filter.ns_ = type.namespaced ? request.attributes.ns : "";
  ASSIGN_OR_RETURN(filter.labels_, ParseLabelQuery(request.Query("labelSelector").value_or("")));
  const auto text = request.Query("fieldSelector");
  if (!text || text->empty()) return filter;
  RETURN_IF_ERROR(CheckFieldTerms(*text));
  for (const std::string& term : Split(*text, ',')) {
    if (term.empty()) continue;
    const size_t equals = term.find('=');
    FieldRequirement requirement;
    requirement.equal = equals == 0 || term[equals - 1] != '!';
    const std::string field = term.substr(0, requirement.equal ? equals : equals - 1);
    if (term == "=" || term == "==") continue;  // selects everything
    size_t value = equals + 1;
    if (value < term.size() && term[value] == '=') ++value;
    requirement.value = term.substr(value);
    requirement.path = Split(field, '.');
    if (!IsSelectable(type, field)) {
      if (type.custom() || HasOwnFields(type)) {
        return BadRequest(StrCat("field label not supported: ", field));
      }
      return BadRequest(StrCat(rbac::Quote(field),
                               " is not a known field selector: only \"metadata.name\", "
                               "\"metadata.namespace\""));
    }
    filter.fields_.push_back(std::move(requirement));
  }
  return filter;
}

bool ObjectFilter::names_one() const {
  return std::any_of(fields_.begin(), fields_.end(), [](const FieldRequirement& field) {
    return field.equal && field.path == std::vector<std::string>{"metadata", "name"};
  });
}

bool ObjectFilter::Matches(const StoredObject& object) const {
  if (!ns_.empty() && object.ns != ns_) return false;
  if (!labels_.Matches(object.labels)) return false;
  for (const FieldRequirement& field : fields_) {
    std::string value;
    if (field.path.size() == 2 && field.path[0] == "metadata") {
      value = field.path[1] == "name" ? object.name : object.ns;
    } else {
      value = ValueAt(object.Parse(), field.path);
    }
    if ((value == field.value) != field.equal) return false;
  }
  return true;
}

absl::StatusOr<ListQuery> ListQuery::Parse(const Request& request, const ResourceType& type) {
  ListQuery query;
  query.watch = request.attributes.verb == "watch";
  query.bookmarks = BooleanParameter(request, "allowWatchBookmarks").value_or(false);
  query.initial_events = BooleanParameter(request, "sendInitialEvents");
  query.match = request.Query("resourceVersionMatch").value_or("");
  ASSIGN_OR_RETURN(const std::optional<int64_t> timeout,
                   IntegerParameter(request, "timeoutSeconds"));
  if (timeout && *timeout > 0) query.timeout = absl::Seconds(*timeout);
  ASSIGN_OR_RETURN(const std::optional<int64_t> limit, IntegerParameter(request, "limit"));
  query.limit = std::max<int64_t>(limit.value_or(0), 0);
  // The server parses labels before it compares the parameters, and fields after that.
  RETURN_IF_ERROR(ParseLabelQuery(request.Query("labelSelector").value_or("")).status());
  RETURN_IF_ERROR(CheckFieldTerms(request.Query("fieldSelector").value_or("")));
  if (const auto causes = CheckTogether(request, query); !causes.empty()) {
    return InvalidError("meta.k8s.io", "ListOptions", "", causes);
  }
  ASSIGN_OR_RETURN(query.filter, ObjectFilter::Create(request, type));
  const std::string version = request.Query("resourceVersion").value_or("");
  if (const std::string token = request.Query("continue").value_or("");
      !token.empty() && !query.watch) {
    ASSIGN_OR_RETURN(query.continuation, Continuation::Decode(token));
    if (!version.empty() && version != "0") {
      return BadRequest("specifying resource version is not allowed when using continue");
    }
  }
  query.any_version = version == "0";
  if (version.empty()) return query;
  uint64_t revision = 0;
  if (!absl::SimpleAtoi(version, &revision)) return BadVersion(version, query.watch);
  query.revision = static_cast<int64_t>(revision);
  return query;
}

}  // namespace mandate::apiserver
