#include "manager/controller/event_object.h"

#include <utility>

#include "absl/strings/str_format.h"
#include "manager/client/call_record.h"
#include "manager/core/strings.h"
#include "manager/core/utf8.h"
#include "manager/object/api_error.h"
#include "manager/object/object_codec.h"
#include "manager/object/time.h"

namespace mandate {
namespace {

constexpr KindInfo kKind = KindOf<eventsv1::Event>::value;

// Kubernetes' validation of events.
constexpr size_t kMaxWord = 128;
constexpr size_t kMaxNote = 1024;
constexpr size_t kMaxName = 253;
constexpr size_t kHashLength = 16;

// FNV-1a, which gives the same value in every process, unlike absl::Hash.
uint64_t StableHash(std::string_view text) {
  uint64_t hash = 14695981039346656037u;
  for (const char c : text) {
    hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211u;
  }
  return hash;
}

// A DNS subdomain. The names of RBAC objects need not be one.
std::string Subdomain(std::string_view name) {
  const auto is_mark = [](char c) { return c == '-' || c == '.'; };
  std::string result;
  for (char c : name.substr(0, kMaxName - 1 - kHashLength)) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    if (!is_mark(c) && !(c >= 'a' && c <= 'z') && !(c >= '0' && c <= '9')) c = '-';
    // Each label begins and ends with a letter or digit.
    if (is_mark(c) && (result.empty() || result.back() == '.')) c = 'x';
    if (c == '.' && result.back() == '-') result.back() = 'x';
    result += c;
  }
  if (!result.empty() && is_mark(result.back())) result.back() = 'x';
  return result.empty() ? "event" : result;
}

}  // namespace

std::string EventContent::SeriesKey() const {
  std::string key;
  for (const std::string* part : {&regarding.api_version, &regarding.kind, &regarding.ns,
                                  &regarding.name, &regarding.uid, &reason, &action, &note}) {
    key += *part;
    key += '\0';
  }
  key += type == EventType::kWarning ? 'W' : 'N';
  return key;
}

EventContent TruncateToLimits(EventContent content) {
  content.reason.resize(Utf8Prefix(content.reason, kMaxWord).size());
  content.action.resize(Utf8Prefix(content.action, kMaxWord).size());
  content.note.resize(Utf8Prefix(content.note, kMaxNote).size());
  return content;
}

eventsv1::Event EventObject(const EventContent& content, const EventReporter& reporter,
                            absl::Time wall) {
  eventsv1::Event event;
  const absl::Time time = absl::FromUnixMicros(absl::ToUnixMicros(wall));
  const ObjectRef& regarding = content.regarding;
  const std::string ns = regarding.ns.empty() ? "default" : regarding.ns;
  event.mutable_metadata()->set_namespace_(ns);
  event.mutable_metadata()->set_name(
      StrCat(Subdomain(regarding.name), ".",
             absl::StrFormat("%016x", StableHash(StrCat(content.SeriesKey(), reporter.instance, " ",
                                                        absl::ToUnixMicros(time))))));
  SetTime(time, event.mutable_eventtime());
  event.set_reportingcontroller(reporter.controller);
  event.set_reportinginstance(std::string(Utf8Prefix(reporter.instance, kMaxWord)));
  event.set_type(content.type == EventType::kWarning ? "Warning" : "Normal");
  event.set_reason(content.reason);
  event.set_action(content.action);
  event.set_note(content.note);
  auto& reference = *event.mutable_regarding();
  reference.set_apiversion(regarding.api_version);
  reference.set_kind(regarding.kind);
  reference.set_namespace_(regarding.ns);
  reference.set_name(regarding.name);
  reference.set_uid(regarding.uid);
  reference.set_resourceversion(regarding.resource_version);
  return event;
}

RestRequest EventCreation(const eventsv1::Event& event) {
  LeaveCallNote<CallNoteOf("*", "create", kKind.group, kKind.plural, "")>();
  RestRequest request;
  request.method = "POST";
  request.target = ResourceTarget(kKind, {KeyOf(event).ns, ""});
  request.body = EncodeObject(event, Encoding::kJson).value_or("");
  request.idempotent = true;  // a name is used once
  return request;
}

RestRequest EventRepetition(const eventsv1::Event& event, int count, absl::Time wall) {
  LeaveCallNote<CallNoteOf("*", "patch", kKind.group, kKind.plural, "")>();
  RestRequest request;
  request.method = "PATCH";
  request.target = ResourceTarget(kKind, KeyOf(event));
  request.content_type = "application/merge-patch+json";
  request.body = StrCat(R"({"series":{"count":)", count, R"(,"lastObservedTime":")",
                        FormatMicroTimestamp(wall), R"("}})");
  request.idempotent = true;  // a count is absolute
  return request;
}

bool IsTransient(const absl::Status& status) {
  return absl::IsUnavailable(status) || absl::IsResourceExhausted(status) ||
         absl::IsUnauthenticated(status) || absl::IsDeadlineExceeded(status) ||
         absl::IsInternal(status);
}

bool IsServerUnavailable(const absl::Status& status) {
  const bool of_the_server = absl::IsUnavailable(status) || absl::IsResourceExhausted(status) ||
                             absl::IsUnauthenticated(status);
  // A webhook that denies the event may choose any code.
  return of_the_server && !IsDeniedByWebhook(status);
}

}  // namespace mandate
