// Names and kinds of Kubernetes objects.
#pragma once

#include <concepts>
#include <memory>
#include <string>
#include <string_view>

#include "google/protobuf/message.h"

namespace mandate {

enum class Scope { kNamespaced, kCluster };

// How a kind's objects travel: built-ins may be protobuf, custom resources are JSON.
enum class Encoding { kJson, kProtobuf };

class RawObject;

// Makes less of an object before it is held (object/trimmed.h).
using Trim = std::shared_ptr<const RawObject> (*)(std::shared_ptr<const RawObject> object);

// A kind known at compile time. Immutable; borrows string literals.
struct KindInfo {
  std::string_view group;  // "" is core
  std::string_view version;
  std::string_view kind;
  std::string_view plural;  // the resource of URLs and RBAC
  Scope scope = Scope::kNamespaced;
  Encoding encoding = Encoding::kJson;
  // Objects travel and are held as PartialObjectMetadata: only their metadata (object/metadata.h).
  bool metadata_only = false;
  // Objects are held as this returns them; null: as they come.
  Trim trim = nullptr;

  constexpr bool operator==(const KindInfo&) const = default;
  // "v1", "rbac.authorization.k8s.io/v1".
  std::string ApiVersion() const {
    return group.empty() ? std::string(version) : std::string(group) + "/" + std::string(version);
  }
};

// A kind of Kubernetes' own API, in version v1.
constexpr KindInfo BuiltIn(std::string_view group, std::string_view kind, std::string_view plural,
                           Scope scope = Scope::kNamespaced) {
  return {.group = group,
          .version = "v1",
          .kind = kind,
          .plural = plural,
          .scope = scope,
          .encoding = Encoding::kProtobuf};
}

// Specialised next to each kind: template <> struct KindOf<T> { static constexpr KindInfo value; };
template <class T>
struct KindOf;

// A protobuf message that is a Kubernetes object: it has metadata, and KindOf names its kind.
template <class T>
concept Object = std::derived_from<T, google::protobuf::Message> && requires(T t) {
  { KindOf<T>::value } -> std::convertible_to<KindInfo>;
  t.mutable_metadata();
};

// The same kind, of which only the metadata is read. API servers send it in protobuf for every
// kind, also for custom ones.
constexpr KindInfo MetadataOf(KindInfo kind) {
  kind.encoding = Encoding::kProtobuf;
  kind.metadata_only = true;
  return kind;
}

// Whether both are the same resource, whatever is read of it.
constexpr bool SameResource(const KindInfo& a, const KindInfo& b) {
  return a.group == b.group && a.version == b.version && a.plural == b.plural;
}

// What a cache can read: an object, or the Metadata of one (object/metadata.h).
template <class T>
concept Readable = Object<T> || requires(T t) {
  requires KindOf<T>::value.metadata_only;
  { t.message() } -> std::convertible_to<google::protobuf::Message&>;
};

// What a cache can watch: also what is Trimmed (object/trimmed.h), which is not decoded by its
// type.
template <class T>
concept Watchable = Readable<T> || requires {
  requires KindOf<T>::value.trim != nullptr;
};

// Namespace and name; the namespace of a cluster-scoped object is empty.
struct ObjectKey {
  std::string ns;
  std::string name;

  bool operator==(const ObjectKey&) const = default;
  auto operator<=>(const ObjectKey&) const = default;
  // "namespace/name" or "name".
  std::string ToString() const { return ns.empty() ? name : ns + "/" + name; }

  template <class H>
  friend H AbslHashValue(H h, const ObjectKey& k) {
    return H::combine(std::move(h), k.ns, k.name);
  }
};

template <Readable T>
ObjectKey KeyOf(const T& object) {
  return {object.metadata().namespace_(), object.metadata().name()};
}

}  // namespace mandate
