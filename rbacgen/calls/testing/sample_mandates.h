// Two components that may do everything.
#pragma once

#include <string_view>

#include "manager/rbac/mandate.h"

namespace mandate {

inline constexpr std::string_view kAnything[] = {"*"};
inline constexpr rbac::MandateRule kEverything[] = {
    {{kAnything, kAnything, kAnything, {}, {}}, "", false}};
inline constexpr rbac::Mandate kFirst{"first", kEverything};
inline constexpr rbac::Mandate kSecond{"second-of-two", kEverything};

}  // namespace mandate
