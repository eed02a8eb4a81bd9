#include "manager/cache/testing/watch_json.h"

#include <cstdio>
#include <cstdlib>

#include "manager/core/strings.h"

namespace mandate {

std::string WidgetJson(std::string_view key, int version, std::string_view uid,
                       std::string_view label) {
  const size_t slash = key.find('/');
  const std::string_view ns = slash == key.npos ? "" : key.substr(0, slash);
  const std::string_view name = slash == key.npos ? key : key.substr(slash + 1);
  const size_t equals = label.find('=');
  const std::string labels = equals == label.npos
                                 ? ""
                                 : StrCat(R"(,"labels":{")", label.substr(0, equals), R"(":")",
                                          label.substr(equals + 1), R"("})");
  return StrCat(R"({"apiVersion":"example.com/v1","kind":"Widget","metadata":{"name":")", name,
                R"(","namespace":")", ns, R"(","uid":")",
                uid.empty() ? StrCat("uid-", name) : std::string(uid), R"(","resourceVersion":")",
                version, R"(")", labels, "}}");
}

ObjectPtr Widget(std::string_view key, int version, std::string_view uid, std::string_view label) {
  auto object = ParseRawObject(WidgetJson(key, version, uid, label), Encoding::kJson);
  if (!object.ok()) {
    std::fprintf(stderr, "Widget: %s\n", std::string(object.status().message()).c_str());
    std::abort();
  }
  return *std::move(object);
}

ObjectStore::Content ContentOf(const std::vector<ObjectPtr>& objects) {
  ObjectStore::Content content;
  for (const ObjectPtr& object : objects) content.Put(object);
  return content;
}

std::string ListJson(std::string_view resource_version, const std::vector<std::string>& items,
                     std::string_view continue_token) {
  std::string list = StrCat(
      R"({"apiVersion":"example.com/v1","kind":"WidgetList","metadata":{"resourceVersion":")",
      resource_version, R"(","continue":")", continue_token, R"("},"items":[)");
  for (size_t i = 0; i < items.size(); ++i) StrAppend(&list, i == 0 ? "" : ",", items[i]);
  return list + "]}";
}

std::string EventJson(std::string_view type, std::string_view object) {
  return StrCat(R"({"type":")", type, R"(","object":)", object, "}\n");
}

std::string BookmarkJson(std::string_view resource_version, bool initial_events_end) {
  const std::string_view annotations =
      initial_events_end ? R"(,"annotations":{"k8s.io/initial-events-end":"true"})" : "";
  return EventJson("BOOKMARK",
                   StrCat(R"({"apiVersion":"example.com/v1","kind":"Widget","metadata":{)",
                          R"("resourceVersion":")", resource_version, "\"", annotations, "}}"));
}

std::string StatusJson(int code, std::string_view reason, std::string_view message) {
  const std::string_view cause =
      reason == "Timeout" ? R"(,"details":{"causes":[{"reason":"ResourceVersionTooLarge"}]})" : "";
  return StrCat(R"({"apiVersion":"v1","kind":"Status","status":"Failure","code":)", code,
                R"(,"reason":")", reason, R"(","message":")", message, "\"", cause, "}");
}

std::string ErrorJson(int code, std::string_view reason, std::string_view message) {
  return EventJson("ERROR", StatusJson(code, reason, message));
}

std::string Text(const std::vector<ObjectPtr>& objects) {
  std::string text;
  for (const ObjectPtr& object : objects) {
    StrAppend(&text, text.empty() ? "" : " ", object->Key().ToString(), "@",
              object->resource_version());
  }
  return text;
}

std::string Text(const ObjectSet& objects) {
  std::vector<ObjectPtr> sorted;
  for (const ObjectSlot& slot : objects) sorted.push_back(slot.object);
  return Text(sorted);
}

std::string Text(const ObjectEvent& event) {
  constexpr std::string_view kSigns[] = {"+", "~", "-"};
  return StrCat(event.initial ? "!" : "", kSigns[static_cast<int>(event.type)],
                event.object->Key().ToString(), "@", event.object->resource_version());
}

std::string Text(const std::vector<ObjectEvent>& events) {
  std::string text;
  for (const ObjectEvent& event : events) StrAppend(&text, text.empty() ? "" : " ", Text(event));
  return text;
}

}  // namespace mandate
