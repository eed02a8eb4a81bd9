#include "manager/debug_pages.h"

#include <algorithm>
#include <string_view>

#include "manager/core/strings.h"
#include "manager/object/json.h"

namespace mandate {
namespace {

using Row = std::vector<std::string>;

// The rows with aligned columns. The first row has the titles.
std::string Table(const std::vector<Row>& rows) {
  std::vector<size_t> widths(rows[0].size());
  for (const Row& row : rows) {
    for (size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
  }
  constexpr size_t kGap = 2;
  std::string text;
  for (const Row& row : rows) {
    for (size_t i = 0; i + 1 < row.size(); ++i) {
      StrAppend(&text, row[i], std::string(widths[i] - row[i].size() + kGap, ' '));
    }
    StrAppend(&text, row.back(), "\n");
  }
  return text;
}

// "1h2m3s"; below a second "250ms".
std::string Length(absl::Duration span) {
  if (span < absl::ZeroDuration()) span = absl::ZeroDuration();
  const absl::Duration unit = span < absl::Seconds(1) ? absl::Milliseconds(1) : absl::Seconds(1);
  return absl::FormatDuration(absl::Trunc(span, unit));
}

std::string Stamp(absl::Time time) { return absl::FormatTime(time, absl::UTCTimeZone()); }

std::string NameOf(const ObjectKey& key) {
  return key.ns.empty() ? key.name : StrCat(key.ns, "/", key.name);
}

std::string_view ToString(QueuedRequest::State state) {
  switch (state) {
    case QueuedRequest::State::kInProgress:
      return "in progress";
    case QueuedRequest::State::kReady:
      return "ready";
    case QueuedRequest::State::kDelayed:
      return "delayed";
  }
  return "";
}

// "widgets.example.com".
std::string ResourceOf(const KindInfo& kind) {
  return kind.group.empty() ? std::string(kind.plural) : StrCat(kind.plural, ".", kind.group);
}

// "everywhere", "namespace shop", "shop/settings", with its labels.
std::string ScopeOf(const DemandSpec& spec) {
  std::string scope = !spec.name.empty() ? NameOf({spec.ns, spec.name})
                      : spec.ns.empty()  ? "everywhere"
                                         : StrCat("namespace ", spec.ns);
  if (!spec.labels.empty()) StrAppend(&scope, " ", spec.labels);
  return scope;
}

std::string StateOf(const WatchSnapshot& entry) {
  std::string state(ToString(entry.state));
  if (entry.reason == absl::StatusCode::kOk) return state;
  return StrCat(state, " (", absl::StatusCodeToString(entry.reason), entry.failed ? ", waits" : "",
                ")");
}

std::string ServedBy(const WatchSnapshot& entry) {
  if (entry.covered_by) return StrCat("the watch of ", ScopeOf(*entry.covered_by));
  return entry.is_sponsor ? "its own watch" : "another component's watch";
}

Json::Value JsonOf(const DemandSpec& spec) {
  Json::Value json;
  json["resource"] = ResourceOf(spec.kind);
  if (spec.kind.metadata_only) json["metadataOnly"] = true;
  if (spec.kind.trim != nullptr) json["trimmed"] = true;
  if (!spec.ns.empty()) json["namespace"] = spec.ns;
  if (!spec.name.empty()) json["name"] = spec.name;
  if (!spec.labels.empty()) json["labels"] = spec.labels;
  return json;
}

Json::Value Count(size_t count) { return Json::Value(static_cast<Json::UInt64>(count)); }

Json::Value JsonOf(const QueuedRequest& item) {
  Json::Value json;
  if (!item.request.key.ns.empty()) json["namespace"] = item.request.key.ns;
  json["name"] = item.request.key.name;
  json["state"] = std::string(ToString(item.state));
  json[item.state == QueuedRequest::State::kDelayed ? "due" : "since"] = Stamp(item.time);
  json["priority"] = item.priority;
  json["failures"] = item.failures;
  if (item.again) json["again"] = true;
  return json;
}

}  // namespace

std::string QueuesAsTable(const std::vector<ControllerQueue>& queues, absl::Time now) {
  std::vector<Row> table = {{"COMPONENT", "CONTROLLER", "WORKERS", "IN PROGRESS", "READY",
                             "DELAYED", "FAILING", "OLDEST READY"}};
  std::vector<Row> requests = {
      {"COMPONENT", "CONTROLLER", "REQUEST", "STATE", "TIME", "PRIORITY", "FAILURES"}};
  std::string omitted;
  for (const ControllerQueue& entry : queues) {
    const QueueSnapshot& queue = entry.queue;
    table.push_back({entry.component, entry.controller, StrCat(entry.workers),
                     StrCat(queue.in_progress), StrCat(queue.ready), StrCat(queue.delayed),
                     StrCat(queue.failing),
                     queue.ready == 0 ? "-" : Length(now - queue.oldest_ready)});
    for (const QueuedRequest& item : queue.requests) {
      const bool delayed = item.state == QueuedRequest::State::kDelayed;
      requests.push_back(
          {entry.component, entry.controller, NameOf(item.request.key),
           StrCat(ToString(item.state), item.again ? ", added again" : ""),
           delayed ? StrCat("in ", Length(item.time - now)) : Length(now - item.time),
           StrCat(item.priority), StrCat(item.failures)});
    }
    if (queue.omitted) {
      StrAppend(&omitted, "more requests of ", entry.controller, " are not shown; raise ?limit=\n");
    }
  }
  std::string text = Table(table);
  if (requests.size() > 1) StrAppend(&text, "\n", Table(requests));
  return StrCat(text, omitted);
}

std::string QueuesAsJson(const std::vector<ControllerQueue>& queues) {
  Json::Value json;
  json["queues"] = Json::Value(Json::arrayValue);
  for (const ControllerQueue& entry : queues) {
    Json::Value one;
    one["component"] = entry.component;
    one["controller"] = entry.controller;
    one["workers"] = entry.workers;
    one["inProgress"] = Count(entry.queue.in_progress);
    one["ready"] = Count(entry.queue.ready);
    one["delayed"] = Count(entry.queue.delayed);
    one["failing"] = Count(entry.queue.failing);
    if (entry.queue.ready > 0) one["oldestReady"] = Stamp(entry.queue.oldest_ready);
    one["requests"] = Json::Value(Json::arrayValue);
    for (const QueuedRequest& item : entry.queue.requests) one["requests"].append(JsonOf(item));
    if (entry.queue.omitted) one["omitted"] = true;
    json["queues"].append(one);
  }
  return WriteJson(json) + "\n";
}

std::string WatchesAsTable(const Cache::Watches& watches, absl::Time now) {
  std::vector<Row> table = {
      {"COMPONENT", "KIND", "SCOPE", "STATE", "SINCE", "SERVED BY", "VERSION", "OBJECTS", "BYTES"}};
  for (const WatchSnapshot& entry : watches.entries) {
    table.push_back(
        {entry.component,
         StrCat(ResourceOf(entry.spec.kind), entry.spec.kind.metadata_only ? " (metadata)" : "",
                entry.spec.kind.trim != nullptr ? " (parts)" : ""),
         ScopeOf(entry.spec), StateOf(entry), Length(now - entry.since), ServedBy(entry),
         entry.version.empty() ? "-" : entry.version, StrCat(entry.objects), StrCat(entry.bytes)});
  }
  std::string text = Table(table);
  if (!watches.complete) {
    StrAppend(&text, "more of the ", watches.scopes, " scopes are not shown; raise ?limit=\n");
  }
  return text;
}

std::string WatchesAsJson(const Cache::Watches& watches) {
  Json::Value json;
  json["scopes"] = Count(watches.scopes);
  if (!watches.complete) json["omitted"] = true;
  json["watches"] = Json::Value(Json::arrayValue);
  for (const WatchSnapshot& entry : watches.entries) {
    Json::Value one = JsonOf(entry.spec);
    one["component"] = entry.component;
    one["state"] = std::string(ToString(entry.state));
    if (entry.reason != absl::StatusCode::kOk) {
      one["reason"] = absl::StatusCodeToString(entry.reason);
    }
    if (entry.failed) one["waits"] = true;
    one["since"] = Stamp(entry.since);
    one["sponsor"] = entry.is_sponsor;
    if (entry.covered_by) one["coveredBy"] = JsonOf(*entry.covered_by);
    one["version"] = entry.version;
    one["objects"] = Count(entry.objects);
    one["bytes"] = Count(entry.bytes);
    json["watches"].append(one);
  }
  return WriteJson(json) + "\n";
}

}  // namespace mandate
