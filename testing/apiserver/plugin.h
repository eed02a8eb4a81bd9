// How access control (testing/apiserver/access) plugs into the double.
#ifndef TESTING_APISERVER_PLUGIN_H_
#define TESTING_APISERVER_PLUGIN_H_

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
#include "testing/apiserver/exchange.h"

namespace mandate::apiserver {

// "rbac.authorization.k8s.io", "clusterroles"; the core group is "".
struct GroupResource {
  std::string group;
  std::string resource;

  auto operator<=>(const GroupResource&) const = default;
};

// One revision of an object. Immutable but for what it keeps for later. Loop thread only.
struct StoredObject {
  std::string ns;
  std::string name;
  std::string uid;
  int64_t revision = 0;  // its resourceVersion
  std::map<std::string, std::string> labels;
  bool deleting = false;
  bool owned = false;    // has an owner
  std::string json;      // whole, in the stored version, apiVersion and kind first
  size_t type_meta = 0;  // where in it what follows those two begins
  // As protobuf, without an envelope, once anybody asked for it.
  mutable std::string protobuf = {};
  // What access control made of it: the kind decides the type.
  mutable std::shared_ptr<const void> derived = {};

  Json::Value Parse() const;
};

// `object` at that revision, which becomes its resourceVersion; 0: it has none; kOwnRevision: the
// one that it says.
inline constexpr int64_t kOwnRevision = -1;
std::shared_ptr<StoredObject> MakeStored(Json::Value object, int64_t revision);

// The latest state. Loop thread only.
class ObjectReader {
 public:
  virtual ~ObjectReader() = default;
  // Null when there is none.
  virtual std::shared_ptr<const StoredObject> Get(const GroupResource& resource,
                                                  std::string_view ns,
                                                  std::string_view name) const = 0;
  // By namespace and name; `ns` empty: of all.
  virtual std::vector<std::shared_ptr<const StoredObject>> List(const GroupResource& resource,
                                                                std::string_view ns = "") const = 0;
};

// A create or update on its way. Borrows.
struct WriteAttributes {
  const Request* request = nullptr;
  bool creates = false;
  GroupResource resource;
  std::string name;  // empty when generateName has not made one yet
  Json::Value object;
  Json::Value old_object;  // null when it creates
};

// The checks between a decoded request and the store. Errors carry the metav1.Status that the
// client shall see. Loop thread only.
class WriteHooks {
 public:
  virtual ~WriteHooks() = default;
  // The resource's own rules: RBAC's escalate and bind.
  virtual absl::Status CheckRules(const WriteAttributes& write) = 0;
  // Whether the user of a PUT or PATCH that creates an object may create it, under its name.
  virtual absl::Status CheckCreate(const Request& request) = 0;
};

// Creates what is never stored: an access review, a token. `object` is decoded and of the right
// kind; the name in the request's attributes is the parent's, of a subresource. `done` gets the
// object to answer with (201), without apiVersion and kind.
using Creator = std::function<void(const Request& request, Json::Value object,
                                   absl::AnyInvocable<void(absl::StatusOr<Json::Value>) &&> done)>;

struct VirtualResource {
  std::string group, version;  // of the URL
  std::string resource;        // "subjectaccessreviews", "serviceaccounts/token"
  bool namespaced = false;
  std::string message;  // of the body: "k8s.io.api.authorization.v1.SubjectAccessReview"
  // Of the body's apiVersion, where that is not `group`: "authentication.k8s.io" of a token.
  std::string kind_group = {};
  Creator create;
};

// All that a plug-in adds. What it points to outlives the server.
struct Plugin {
  std::vector<Filter> filters;  // the first is outermost
  WriteHooks* hooks = nullptr;
  std::vector<VirtualResource> resources;
  std::vector<std::string> seed;  // objects (JSON) that exist from the start
};

}  // namespace mandate::apiserver

#endif  // TESTING_APISERVER_PLUGIN_H_
