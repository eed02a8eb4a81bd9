// The kind Greeting, for Mandate's typed reads and writes.
#ifndef GREETING_KIND_H_
#define GREETING_KIND_H_

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

#endif  // GREETING_KIND_H_
