// The body of a LIST response, cut into its objects without decoding them.
#ifndef MANAGER_OBJECT_LIST_CODEC_H_
#define MANAGER_OBJECT_LIST_CODEC_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "manager/object/json_cursor.h"
#include "manager/object/kind.h"
#include "manager/object/raw_object.h"

namespace mandate {

struct RawList {
  std::string resource_version;
  std::string continue_token;        // not empty: more pages follow
  std::optional<int64_t> remaining;  // the server's estimate of what follows
  std::vector<std::shared_ptr<const RawObject>> items;
  std::vector<absl::Status> undecodable;  // items left out, each naming its index
};

// kInvalidArgument when the body as such is no list. An item that cannot be read does not stop the
// others; the limits are of a JSON body. JSON items have apiVersion and kind only if the server
// wrote them; protobuf items never.
absl::StatusOr<RawList> ParseList(std::string_view body, Encoding encoding,
                                  const JsonLimits& limits = {});

}  // namespace mandate

#endif  // MANAGER_OBJECT_LIST_CODEC_H_
