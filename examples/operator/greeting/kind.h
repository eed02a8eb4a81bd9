// The kind Greeting, for Mandate's typed reads and writes.
#pragma once

#include "api/v1alpha1/greeting.pb.h"
#include "manager/object/kind.h"

template <>
struct mandate::KindOf<example::v1alpha1::Greeting> {
  static constexpr KindInfo value = {.group = "example.com",
                                     .version = "v1alpha1",
                                     .kind = "Greeting",
                                     .plural = "greetings",
                                     .scope = Scope::kNamespaced,
                                     .encoding = Encoding::kJson};
};
