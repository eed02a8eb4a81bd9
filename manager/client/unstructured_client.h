// Objects of kinds that are known only while the program runs: JSON instead of a C++ type.
//
//   UnstructuredClient client(component.client);
//   const DynamicKind kind = {"example.com", "v1", "Widget", "widgets"};
//   ASSIGN_OR_RETURN(Json::Value widget, client.Get(context, kind.info(), {"shop", "a"}));
//   widget["spec"]["size"] = 3;
//   ASSIGN_OR_RETURN(widget, client.Update(context, kind.info(), widget));
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "manager/client/object_client.h"
#include "manager/core/call_context.h"
#include "manager/object/dynamic_kind.h"
#include "manager/object/json.h"
#include "manager/object/kind.h"

namespace mandate {

struct UnstructuredList {
  std::string resource_version;
  std::vector<Json::Value> items;
};

// Typed calls do not compile if the markers do not declare them; these are rejected before they are
// sent (kPermissionDenied with the marker, client/guard.h), and leave no record for `rbacgen
// calls`. Use Client for kinds that are known. Built-in kinds travel as JSON, too.
//
// Namespace and name are those of `object`; apiVersion and kind are set. The results are the
// server's answers. Otherwise as ObjectClient: errors, own writes, threads.
class UnstructuredClient {
 public:
  explicit UnstructuredClient(RestClient& rest) : objects_(rest) {}  // `rest` outlives this

  absl::StatusOr<Json::Value> Get(const CallContext& context, const KindInfo& kind,
                                  const ObjectKey& key);
  absl::StatusOr<UnstructuredList> List(const CallContext& context, const KindInfo& kind,
                                        const ListOptions& options = {});
  absl::StatusOr<Json::Value> Create(const CallContext& context, const KindInfo& kind,
                                     const Json::Value& object, const WriteOptions& options = {});
  // kInvalidArgument if `object` has no resourceVersion. `subresource`: "status", or "".
  absl::StatusOr<Json::Value> Update(const CallContext& context, const KindInfo& kind,
                                     const Json::Value& object, const WriteOptions& options = {},
                                     std::string_view subresource = "");
  absl::StatusOr<Json::Value> Patch(const CallContext& context, const KindInfo& kind,
                                    const ObjectKey& key, const mandate::Patch& patch,
                                    const WriteOptions& options = {},
                                    std::string_view subresource = "");
  // Server-side apply of exactly the fields of `object`.
  absl::StatusOr<Json::Value> Apply(const CallContext& context, const KindInfo& kind,
                                    const Json::Value& object, const ApplyOptions& options = {},
                                    std::string_view subresource = "");
  absl::StatusOr<DeleteResult> Delete(const CallContext& context, const KindInfo& kind,
                                      const ObjectKey& key, const DeleteOptions& options = {});

 private:
  absl::StatusOr<Json::Value> Exchange(const CallContext& context, RestRequest request);
  // The same, and notes the write (own_writes.h) unless it is a dry run.
  absl::StatusOr<Json::Value> Write(const CallContext& context, RestRequest request,
                                    const KindInfo& kind, const ObjectKey& key, bool dry_run);
  std::vector<std::pair<std::string, std::string>> Parameters(const WriteOptions& options,
                                                              std::string field_manager = "");

  ObjectClient objects_;
};

}  // namespace mandate
