// Objects of which only a part is held, because the rest is not needed and may be large.
//
//   std::shared_ptr<const RawObject> OnlyRole(std::shared_ptr<const RawObject> binding);
//   using BoundRole = Trimmed<rbacv1::RoleBinding, OnlyRole>;
//   …
//       .Watches<BoundRole>(map)  // from an ObjectEvent, whose object it decodes as a RoleBinding
#pragma once

#include "manager/object/kind.h"

namespace mandate {

// The objects of T as `kTrim` returns them: it may drop fields, but neither namespace, UID nor
// version; an object of which it would change these is held whole. It may replace a long name by a
// short one, under which the object is then held: always by the same, and by one that no other
// object has. No demand of a single object finds that one: demand its namespace. A kind of its own
// for the cache: it has a watch of its own, apart from one of T, and is read by a KindInfo of its
// own. The server still sends whole objects. Needs the same permissions as T.
template <Watchable T, Trim kTrim>
struct Trimmed {};

template <Watchable T, Trim kTrim>
struct KindOf<Trimmed<T, kTrim>> {
  static constexpr KindInfo value = [] {
    KindInfo kind = KindOf<T>::value;
    kind.trim = kTrim;
    return kind;
  }();
};

}  // namespace mandate
