// Objects over a RestClient: bodies encoded, answers decoded, pages followed. client.h puts types
// and permissions on top.
#ifndef MANAGER_CLIENT_OBJECT_CLIENT_H_
#define MANAGER_CLIENT_OBJECT_CLIENT_H_

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "google/protobuf/message.h"
#include "manager/client/object_patch.h"
#include "manager/client/rest_client.h"
#include "manager/core/call_context.h"
#include "manager/object/kind.h"
#include "manager/object/raw_object.h"

namespace mandate {

struct ListOptions {
  std::string ns = {};  // empty: all namespaces, or a cluster-scoped kind
  std::string label_selector = {};
  std::string field_selector = {};
  size_t page_size = 500;
  // More objects than this are kResourceExhausted: such kinds are for the cache.
  size_t max_items = 100'000;
};

struct ApplyOptions {
  std::string field_manager = {};  // empty: the component's name
  // Takes fields over from other managers; without it that is a kAborted conflict.
  bool force = true;
};

enum class Propagation { kBackground, kForeground, kOrphan };

struct DeleteOptions {
  // Preconditions: another object of the same name, or another version, is not deleted but a
  // conflict. Empty: none.
  std::string uid = {};
  std::string resource_version = {};
  Propagation propagation = Propagation::kBackground;
};

// What a deletion that the API server has accepted came to, by its answer.
enum class Deletion {
  // The object is gone.
  kGone,
  // It is marked as deleted, and still there: it has finalizers, which somebody may have added a
  // moment ago, or time to end. Also the answer for a Pod without such time, which is gone, and
  // for what is no answer of an API server.
  kPending,
};

// Blocks the calling thread: not on the loop. Built-in kinds travel as protobuf, so that fields
// that we do not know survive; custom resources and all patches as JSON. Writes name the component
// as field manager. Errors are RestClient's, and kInvalidArgument for a key or object that lacks
// the name or namespace its kind needs. Writes are noted in RestClient::own_writes(). Thread-safe.
class ObjectClient {
 public:
  explicit ObjectClient(RestClient& rest) : rest_(rest) {}  // `rest` outlives this

  // `out` is replaced.
  absl::Status Get(const CallContext& context, const KindInfo& kind, const ObjectKey& key,
                   google::protobuf::Message& out);

  // `each` gets the objects page by page; the result is the list's resourceVersion. When a page's
  // continue token has expired, `restart` is called and the list begins again, once, in one page.
  absl::StatusOr<std::string> List(
      const CallContext& context, const KindInfo& kind, const ListOptions& options,
      const std::function<void()>& restart,
      const std::function<absl::Status(const std::shared_ptr<const RawObject>&)>& each);

  // `object` holds what to send, and then the server's answer.
  absl::Status Create(const CallContext& context, const KindInfo& kind, const ObjectKey& key,
                      google::protobuf::Message& object);
  // `resource_version` is the object's own; empty is kInvalidArgument.
  absl::Status Update(const CallContext& context, const KindInfo& kind, const ObjectKey& key,
                      std::string_view resource_version, std::string_view subresource,
                      google::protobuf::Message& object);
  // With a uid: changes only that object. A Conflict when it is gone, or another has its name. With
  // a resourceVersion, and no such object: creates it, as without one. Then it is sent once only,
  // as the second time would be a conflict with the first.
  absl::Status Apply(const CallContext& context, const KindInfo& kind, const ObjectKey& key,
                     std::string_view subresource, const ApplyOptions& options,
                     google::protobuf::Message& object);

  absl::Status PatchObject(const CallContext& context, const KindInfo& kind, const ObjectKey& key,
                           std::string_view subresource, const Patch& patch,
                           google::protobuf::Message& out);

  absl::StatusOr<Deletion> Delete(const CallContext& context, const KindInfo& kind,
                                  const ObjectKey& key, const DeleteOptions& options);

  RestClient& rest() { return rest_; }

 private:
  absl::Status Exchange(const CallContext& context, RestRequest request, const KindInfo& kind,
                        google::protobuf::Message& out);
  // The same of a write to `key`, which is noted (own_writes.h).
  absl::Status Write(const CallContext& context, RestRequest request, const KindInfo& kind,
                     const ObjectKey& key, google::protobuf::Message& object);
  std::string FieldManager() const { return std::string(rest_.component()); }

  RestClient& rest_;
};

}  // namespace mandate

#endif  // MANAGER_CLIENT_OBJECT_CLIENT_H_
