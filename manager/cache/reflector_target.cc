#include "manager/cache/reflector_target.h"

#include <iterator>
#include <utility>

namespace mandate {

void ReflectorTarget::Content::Put(ObjectPtr object) {
  bytes.Add(*object);
  // Lists are in order.
  const bool last = objects.empty() || ObjectLess()(*std::prev(objects.end()), object);
  const auto place = last ? objects.end() : objects.lower_bound(object);
  if (place == objects.end() || ObjectLess()(object, *place)) {
    objects.insert(place, std::move(object));
    return;
  }
  bytes.Subtract(*place->object);
  place->object = std::move(object);
}

}  // namespace mandate
