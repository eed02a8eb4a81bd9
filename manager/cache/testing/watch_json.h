// Objects, lists and watch events of a made-up kind, as an API server writes them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "manager/cache/store.h"
#include "manager/object/kind.h"

namespace mandate {

inline constexpr KindInfo kWidget = {.group = "example.com",
                                     .version = "v1",
                                     .kind = "Widget",
                                     .plural = "widgets",
                                     .scope = Scope::kNamespaced,
                                     .encoding = Encoding::kJson};

// `key` is "namespace/name"; the UID is "uid-" and the name unless it is given; `label` is
// "key=value" or nothing.
std::string WidgetJson(std::string_view key, int version, std::string_view uid = "",
                       std::string_view label = "");
ObjectPtr Widget(std::string_view key, int version, std::string_view uid = "",
                 std::string_view label = "");

// The events that a list of these objects, in this order, gives.
ObjectStore::Content ContentOf(const std::vector<ObjectPtr>& objects);

std::string ListJson(std::string_view resource_version, const std::vector<std::string>& items,
                     std::string_view continue_token = "");
// One frame, its line end included.
std::string EventJson(std::string_view type, std::string_view object);
std::string BookmarkJson(std::string_view resource_version, bool initial_events_end = false);
std::string ErrorJson(int code, std::string_view reason, std::string_view message = "scripted");
// A metav1.Status.
std::string StatusJson(int code, std::string_view reason, std::string_view message = "scripted");

// "default/a@5 default/b@6": the objects with their versions.
std::string Text(const std::vector<ObjectPtr>& objects);
std::string Text(const ObjectSet& objects);
// "+default/a@5" added, "~" updated, "-" deleted, joined by spaces; "!" before those of the first
// list.
std::string Text(const ObjectEvent& event);
std::string Text(const std::vector<ObjectEvent>& events);

}  // namespace mandate
