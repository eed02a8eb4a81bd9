// Decodes objects from request bodies and encodes them for responses.
#pragma once

#include <jsoncpp/json/json.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "manager/object/kind.h"
#include "testing/apiserver/kinds.h"
#include "testing/apiserver/plugin.h"

namespace mandate::apiserver {

// The object in a body, as it would be stored: a built-in kind keeps only its known fields. The
// error is a 400 if the body is invalid or has another kind.
absl::StatusOr<Json::Value> ReadObject(std::string_view body, Encoding encoding,
                                       const ResourceType& type);
// 400 for an object of a custom kind in another version. The server reports this after the unknown
// members; for a built-in kind ReadObject reports it.
absl::Status CheckApiVersion(const Json::Value& object, const ResourceType& type);
// A JSON object as decoding would leave it; 400 if it does not fit its kind. A custom kind keeps
// the given apiVersion and kind. Given empty lists, which Go's types distinguish from null, are
// kept where field management depends on them (DropEmptyLists).
absl::StatusOr<Json::Value> Normalise(const Json::Value& object, const ResourceType& type);

// Removes the null times of an object's metadata.
void DropUnreadableTimes(Json::Value& object);

// Removes empty lists from an object before it is stored: protobuf does not distinguish them from
// absent ones.
void DropEmptyLists(const ResourceType& type, Json::Value& object);

// Decodes a message of any kind, such as DeleteOptions, from JSON or protobuf into JSON. An empty
// body is an empty object.
absl::StatusOr<Json::Value> ReadMessage(std::string_view body, Encoding encoding,
                                        const google::protobuf::Descriptor& type);
absl::StatusOr<std::string> WriteMessage(const Json::Value& value, std::string_view api_version,
                                         std::string_view kind, Encoding encoding,
                                         const google::protobuf::Descriptor& type);

// The whole object, for a body.
std::string WriteObject(const StoredObject& object, const ResourceType& type, Encoding encoding);

struct ListMeta {
  int64_t revision = 0;
  std::string continue_token = {};
  std::optional<int64_t> remaining = {};
};
std::string WriteList(const std::vector<std::shared_ptr<const StoredObject>>& items,
                      const ListMeta& meta, const ResourceType& type, Encoding encoding);

// One frame of a watch.
std::string WriteEvent(std::string_view event, const StoredObject& object, const ResourceType& type,
                       Encoding encoding);
// A BOOKMARK; `initial_events_end` marks the end of a WatchList's initial state.
std::string WriteBookmark(int64_t revision, bool initial_events_end, const ResourceType& type,
                          Encoding encoding);
std::string WriteErrorEvent(const absl::Status& error, Encoding encoding);

}  // namespace mandate::apiserver
