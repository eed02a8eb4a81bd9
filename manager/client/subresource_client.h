// Subresources over a RestClient: encodes bodies, decodes answers. subresource_calls.h adds types
// and permissions.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "manager/client/eviction.h"
#include "manager/client/object_patch.h"
#include "manager/client/rest_client.h"
#include "manager/client/scale.h"
#include "manager/client/write_options.h"
#include "manager/core/call_context.h"
#include "manager/identity/token_request.h"
#include "manager/object/kind.h"

namespace mandate {

struct BindOptions {
  // If the pod has another UID, it is not bound, and the error is a conflict (kAborted). Empty: no
  // precondition.
  std::string uid = {};
  bool dry_run = false;
};

struct TokenOptions {
  // At least ten minutes. The server may issue a token for another time: see IssuedToken::life.
  absl::Duration life = absl::Hours(1);
  std::vector<std::string> audiences = {};  // empty: the API server's own
  // The name of a Secret in the account's namespace. The token ends when it is deleted.
  std::string bound_secret = {};
};

// Blocks the calling thread: not on the loop. Errors are RestClient's, and kInvalidArgument for a
// key without the name or namespace that its kind needs. Thread-safe.
class SubresourceClient {
 public:
  explicit SubresourceClient(RestClient& rest) : rest_(rest) {}  // `rest` outlives this

  absl::Status Evict(const CallContext& context, const ObjectKey& pod, const EvictOptions& options);
  absl::Status Bind(const CallContext& context, const ObjectKey& pod, std::string_view node,
                    const BindOptions& options);
  absl::StatusOr<IssuedToken> CreateToken(const CallContext& context, const ObjectKey& account,
                                          const TokenOptions& options);

  // The writes are noted in RestClient::own_writes() as writes of the scaled object, except dry
  // runs.
  absl::StatusOr<Scale> GetScale(const CallContext& context, const KindInfo& kind,
                                 const ObjectKey& key);
  absl::StatusOr<Scale> UpdateScale(const CallContext& context, const KindInfo& kind,
                                    const ObjectKey& key, const Scale& scale,
                                    const WriteOptions& options);
  absl::StatusOr<Scale> PatchScale(const CallContext& context, const KindInfo& kind,
                                   const ObjectKey& key, const Patch& patch,
                                   const WriteOptions& options);

 private:
  absl::StatusOr<Scale> WriteScale(const CallContext& context, RestRequest request,
                                   const KindInfo& kind, const ObjectKey& key,
                                   const WriteOptions& options);
  absl::StatusOr<Scale> ExchangeScale(const CallContext& context, RestRequest request);

  RestClient& rest_;
};

}  // namespace mandate
