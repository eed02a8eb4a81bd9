// The errors of LIST and WATCH that a reflector distinguishes.
#pragma once

#include <string_view>

#include "absl/status/status.h"
#include "manager/object/kind.h"

namespace mandate {

// The server's cache is older than the requested resource version: 504 with a cause.
bool IsTooLargeResourceVersion(const absl::Status& status);

// The requested resource version cannot be used any more: 410, or the above.
bool IsExpired(const absl::Status& status);

// The error did not come from a server: the connection was refused or reset, or TLS failed.
bool IsNoConnection(const absl::Status& status);

// The component has no valid credential at the moment: 401, or no identity at all.
bool LacksIdentity(const absl::Status& status);

// The same request may succeed later: 429, no connection, no identity.
bool IsWorthRepeating(const absl::Status& status);

// The server does not support the requested encoding: 406.
bool IsNotAcceptable(const absl::Status& status);

// A limit of this process was reached: the response was too large or had too many pages, or there
// was no capacity for another request.
bool IsLocalLimit(const absl::Status& status);

// The error in words that name the kind and the next step, for the errors of an API server whose
// CustomResourceDefinitions come and go: its own messages ("404 page not found", "storage is
// (re)initializing") name neither. Keeps the code and the payloads; other errors stay as they are.
absl::Status Explain(const KindInfo& kind, const absl::Status& error);

// kPermissionDenied for a component that lacks access. The message names the component, the verb
// ("list", "list and watch") and the scope (DemandSpec::ToString()), quotes the API server's reason
// unless it is empty, and says what to grant.
absl::Status AccessDenied(std::string_view component, std::string_view verb, std::string_view scope,
                          std::string_view why);

}  // namespace mandate
