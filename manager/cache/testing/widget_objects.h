// What a WidgetServer begins with: the kind of widgets, and roles that are bound to groups.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "manager/object/kind.h"

namespace mandate {

// As `where` of WidgetServer::Grant(): the right to read Namespaces.
inline constexpr std::string_view kNamespaceObjects = "namespaces";
// The right to watch every widget, without the right to list them.
inline constexpr std::string_view kWatchAlone = "watch";

// The group that may read everything ("") or what Grant() names so.
std::string WidgetReadersOf(std::string_view where);

// "foo/x"
ObjectKey KeyOfText(const std::string& key);

// The objects in JSON. Each of `keys` has a Role and a RoleBinding.
std::vector<std::string> WidgetObjects(const std::vector<std::string>& keys);

}  // namespace mandate
