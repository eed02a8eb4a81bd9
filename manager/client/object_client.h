// Objects over a RestClient: encodes bodies, decodes answers, follows pages. client.h adds types
// and permissions.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "google/protobuf/message.h"
#include "manager/client/delete_options.h"
#include "manager/client/object_patch.h"
#include "manager/client/rest_client.h"
#include "manager/client/write_options.h"
#include "manager/core/call_context.h"
#include "manager/object/kind.h"
#include "manager/object/raw_object.h"

namespace mandate {

struct ListOptions {
  std::string ns = {};  // empty: all namespaces, or a cluster-scoped kind
  std::string label_selector = {};
  std::string field_selector = {};
  // More objects are kResourceExhausted: use ForEach or the cache for such kinds.
  size_t max_items = 100'000;
};

struct ApplyOptions {
  std::string field_manager = {};  // empty: the component's name
  // Takes over fields of other managers. Otherwise they are a conflict, kAborted.
  bool force = true;
  // As in WriteOptions.
  bool dry_run = false;
  FieldValidation field_validation = FieldValidation::kServerDefault;
};

// The result of a deletion that the API server has accepted, by its answer.
enum class DeleteResult {
  // The object is gone.
  kGone,
  // The object is marked as deleted and still exists: it has finalizers, which another client may
  // have added just before, or a grace period. Also the result for a Pod without a grace period,
  // which is gone, and for an answer that did not come from an API server.
  kPending,
};

// Blocks the calling thread: not on the loop. Built-in kinds travel as protobuf, so that unknown
// fields survive; custom resources and all patches travel as JSON. Writes name the component as
// field manager. Errors are RestClient's, and kInvalidArgument for a key or object without the name
// or namespace that its kind needs. Writes are noted in RestClient::own_writes(), except dry runs:
// a cached read would wait for a version that never comes. Thread-safe.
class ObjectClient {
 public:
  explicit ObjectClient(RestClient& rest) : rest_(rest) {}  // `rest` outlives this

  // Replaces `out`.
  absl::Status Get(const CallContext& context, const KindInfo& kind, const ObjectKey& key,
                   google::protobuf::Message& out);

  // `each` gets the objects page by page; the result is the list's resourceVersion. When a page's
  // continue token has expired, calls `restart` and begins the list again, once, in one page.
  absl::StatusOr<std::string> List(
      const CallContext& context, const KindInfo& kind, const ListOptions& options,
      const std::function<void()>& restart,
      const std::function<absl::Status(const std::shared_ptr<const RawObject>&)>& each);

  // `object` is the object to send, and then the server's answer.
  absl::Status Create(const CallContext& context, const KindInfo& kind, const ObjectKey& key,
                      google::protobuf::Message& object, const WriteOptions& options = {});
  // `resource_version` is the object's own; if empty, kInvalidArgument.
  absl::Status Update(const CallContext& context, const KindInfo& kind, const ObjectKey& key,
                      std::string_view resource_version, std::string_view subresource,
                      google::protobuf::Message& object, const WriteOptions& options = {});
  // With a uid: changes only that object; a Conflict when it is gone or another has its name. With
  // a resourceVersion and no such object: creates it, as without a resourceVersion. Then the
  // request is sent only once: a second one would conflict with the first.
  absl::Status Apply(const CallContext& context, const KindInfo& kind, const ObjectKey& key,
                     std::string_view subresource, const ApplyOptions& options,
                     google::protobuf::Message& object);

  absl::Status PatchObject(const CallContext& context, const KindInfo& kind, const ObjectKey& key,
                           std::string_view subresource, const Patch& patch,
                           google::protobuf::Message& out, const WriteOptions& options = {});

  absl::StatusOr<DeleteResult> Delete(const CallContext& context, const KindInfo& kind,
                                      const ObjectKey& key, const DeleteOptions& options);

  RestClient& rest() { return rest_; }

 private:
  absl::Status Exchange(const CallContext& context, RestRequest request, const KindInfo& kind,
                        google::protobuf::Message& out);
  // The same for a write to `key`, which is noted (own_writes.h) unless it is a dry run.
  absl::Status Write(const CallContext& context, RestRequest request, const KindInfo& kind,
                     const ObjectKey& key, const WriteOptions& options,
                     google::protobuf::Message& object);
  std::string FieldManager() const { return std::string(rest_.component()); }
  // The parameters of a write.
  std::vector<std::pair<std::string, std::string>> Parameters(const WriteOptions& options) const;

  RestClient& rest_;
};

}  // namespace mandate
