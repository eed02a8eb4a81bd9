// The interface between the double and access control (testing/apiserver/access).
#pragma once

#include <jsoncpp/json/json.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/functional/any_invocable.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "manager/rbac/authorizer.h"
#include "testing/apiserver/exchange.h"

namespace mandate::apiserver {

// "rbac.authorization.k8s.io", "clusterroles"; the core group is "".
struct GroupResource {
  std::string group;
  std::string resource;

  auto operator<=>(const GroupResource&) const = default;
};

// One revision of an object. Immutable except for its caches. Loop thread only.
struct StoredObject {
  std::string ns;
  std::string name;
  std::string uid;
  int64_t revision = 0;  // its resourceVersion
  std::map<std::string, std::string> labels;
  bool deleting = false;
  bool owned = false;    // has an owner
  std::string json;      // the whole object in the stored version; apiVersion and kind come first
  size_t type_meta = 0;  // the position after these two in `json`
  // A cache: the object as protobuf, without an envelope.
  mutable std::string protobuf = {};
  // A cache of access control; the object's kind determines the type.
  mutable std::shared_ptr<const void> derived = {};

  Json::Value Parse() const;
};

// `object` with `revision` as its resourceVersion. 0 means no resourceVersion, kOwnRevision the
// object's own.
inline constexpr int64_t kOwnRevision = -1;
std::shared_ptr<StoredObject> MakeStored(Json::Value object, int64_t revision);

// Reads the latest state. Loop thread only.
class ObjectReader {
 public:
  virtual ~ObjectReader() = default;
  // Null if it is absent.
  virtual std::shared_ptr<const StoredObject> Get(const GroupResource& resource,
                                                  std::string_view ns,
                                                  std::string_view name) const = 0;
  // Sorted by namespace and name. An empty `ns` means all namespaces.
  virtual std::vector<std::shared_ptr<const StoredObject>> List(const GroupResource& resource,
                                                                std::string_view ns = "") const = 0;
};

// A create or update that is being checked. It borrows the request.
struct WriteAttributes {
  const Request* request = nullptr;
  bool creates = false;
  GroupResource resource;
  std::string name;  // empty before a name is generated
  Json::Value object;
  Json::Value old_object;  // null for a creation
};

// Checks decoded requests before they are stored. Errors have the metav1.Status for the client.
// Loop thread only.
class WriteHooks {
 public:
  virtual ~WriteHooks() = default;
  // The resource's own rules: RBAC's escalate and bind.
  virtual absl::Status CheckRules(const WriteAttributes& write) = 0;
  // Whether the user of a PUT or PATCH that creates an object may create it, under its name.
  virtual absl::Status CheckCreate(const Request& request) = 0;
  // Whether the user may send the request, for the permissions that a write needs beyond its own.
  virtual rbac::Decision Authorize(const User& user, const rbac::Attributes& request) = 0;
};

// Creates an object that is never stored: an access review, a token. `object` is decoded and has
// the right kind. For a subresource the request's attributes have the parent's name. `done` gets
// the object of the response (201), without apiVersion and kind.
using Creator = std::function<void(const Request& request, Json::Value object,
                                   absl::AnyInvocable<void(absl::StatusOr<Json::Value>) &&> done)>;

struct VirtualResource {
  std::string group, version;  // in the URL
  std::string resource;        // "subjectaccessreviews", "serviceaccounts/token"
  bool namespaced = false;
  std::string message;  // the body's type: "k8s.io.api.authorization.v1.SubjectAccessReview"
  // The group of the body's apiVersion if it differs from `group`: "authentication.k8s.io" for a
  // token.
  std::string kind_group = {};
  Creator create;
};

// The additions of a plug-in. Everything that it refers to outlives the server.
struct Plugin {
  std::vector<Filter> filters;  // the first is outermost
  WriteHooks* hooks = nullptr;
  std::vector<VirtualResource> resources;
  std::vector<std::string> seed;  // objects (JSON) that exist from the start
};

}  // namespace mandate::apiserver
