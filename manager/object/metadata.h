// The metadata of objects whose content is not needed.
//
//   ControllerBuilder<kCleaner>(component.controller_context)
//       .Watches<Metadata<Pod>>(InNamespace{"web"}, map)
//   …
//   auto pod = component.cache().Get<Metadata<Pod>>(context, {"web", "x"});
//   pod->metadata().labels()
#pragma once

#include "k8s.io/apimachinery/pkg/apis/meta/v1/generated.pb.h"
#include "manager/object/kind.h"

namespace mandate {

// The metadata of an object of kind T. A watch of Metadata<T> receives and holds nothing else
// (PartialObjectMetadata): no data of a Secret, no spec of a Pod. So there is no T in it: it has no
// spec and no status, and is not decoded as a T. Needs the same permissions as T.
template <Object T>
class Metadata {
 public:
  using Message = k8s::io::apimachinery::pkg::apis::meta::v1::PartialObjectMetadata;

  const auto& metadata() const { return message_.metadata(); }
  auto* mutable_metadata() { return message_.mutable_metadata(); }

  // To decode into, and to encode.
  Message& message() { return message_; }
  const Message& message() const { return message_; }

 private:
  Message message_;
};

template <Object T>
struct KindOf<Metadata<T>> {
  static constexpr KindInfo value = MetadataOf(KindOf<T>::value);
};

}  // namespace mandate
