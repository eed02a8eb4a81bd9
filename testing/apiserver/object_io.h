// Objects in and out of the bodies of requests and answers.
#ifndef TESTING_APISERVER_OBJECT_IO_H_
#define TESTING_APISERVER_OBJECT_IO_H_

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

// The object in a body, as it would be stored: of a built-in kind only what the kind knows. The
// errors are the 400s of a body that cannot be read or is of another kind.
absl::StatusOr<Json::Value> ReadObject(std::string_view body, Encoding encoding,
                                       const ResourceType& type);
// 400 for an object that says that it is of another version, where that is told after its unknown
// members: of a custom kind. Of a built-in kind ReadObject tells it.
absl::Status CheckApiVersion(const Json::Value& object, const ResourceType& type);
// What reading leaves of an object that is JSON already; 400 when it does not fit its kind. A
// custom kind keeps the apiVersion and kind that were given. Lists that are given and empty, of
// which Go's types know that they are not null, stay where that matters to who manages them
// (DropEmptyLists).
absl::StatusOr<Json::Value> Normalise(const Json::Value& object, const ResourceType& type);

// Takes from an object's metadata the times that are none.
void DropUnreadableTimes(Json::Value& object);

// Of an object that is to be stored: protobuf does not tell such lists from none.
void DropEmptyLists(const ResourceType& type, Json::Value& object);

// A message of any kind, such as DeleteOptions, in JSON or protobuf, as JSON; an empty body is an
// empty object.
absl::StatusOr<Json::Value> ReadMessage(std::string_view body, Encoding encoding,
                                        const google::protobuf::Descriptor& type);
absl::StatusOr<std::string> WriteMessage(const Json::Value& value, std::string_view api_version,
                                         std::string_view kind, Encoding encoding,
                                         const google::protobuf::Descriptor& type);

// Whole, for a body.
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

#endif  // TESTING_APISERVER_OBJECT_IO_H_
