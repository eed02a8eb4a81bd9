// The body of a LIST response, cut into its objects without decoding them.
#ifndef MANAGER_OBJECT_LIST_CODEC_H_
#define MANAGER_OBJECT_LIST_CODEC_H_

#include <cstdint>
#include <limits>
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
#include "manager/object/unreadable.h"

namespace mandate {

struct RawList {
  std::string resource_version;
  std::string continue_token;        // not empty: more pages follow
  std::optional<int64_t> remaining;  // the server's estimate of what follows
  std::vector<std::shared_ptr<const RawObject>> items;
  std::vector<UnreadableObject> undecodable;  // items left out, each error naming its index
};

// Reads a list as its bytes come: beside the objects it holds no more than the item in hand and a
// chunk. An item that cannot be read, or nests too deep, does not stop the others. JSON items have
// apiVersion and kind only if the server wrote them; protobuf items never.
//
//   ListReader reader(encoding);
//   for (…) RETURN_IF_ERROR(reader.Feed(chunk));
//   ASSIGN_OR_RETURN(RawList list, std::move(reader).Finish());
//
// One thread only.
class ListReader {
 public:
  struct Options {
    JsonLimits json;
    // Of an item, and of whatever else can only be read whole; then kResourceExhausted.
    size_t max_item_bytes = std::numeric_limits<size_t>::max();
    size_t max_bytes = std::numeric_limits<size_t>::max();  // of all; then kResourceExhausted
  };

  explicit ListReader(Encoding encoding) : ListReader(encoding, Options()) {}
  ListReader(Encoding encoding, const Options& options);
  ~ListReader();

  // kInvalidArgument when this cannot become a list. An error is for good.
  absl::Status Feed(std::string_view bytes);

  // The bytes have ended. kInvalidArgument also when they ended before the list did.
  absl::StatusOr<RawList> Finish() &&;

  size_t bytes() const { return bytes_; }

 private:
  friend absl::StatusOr<RawList> ParseList(std::string_view body, Encoding encoding,
                                           const JsonLimits& limits);
  class Format;
  class JsonFormat;
  class ProtobufFormat;

  absl::Status Read(std::string_view bytes, bool last);

  const Options options_;
  RawList list_;
  std::unique_ptr<Format> format_;
  size_t bytes_ = 0;     // fed so far
  std::string pending_;  // what is not read yet
  // Not worth another look before there is so much: each looks at all of it, so that it doubles.
  size_t look_at_ = 0;
  absl::Status status_;
};

// A whole body at once; the limits are of a JSON body.
absl::StatusOr<RawList> ParseList(std::string_view body, Encoding encoding,
                                  const JsonLimits& limits = {});

}  // namespace mandate

#endif  // MANAGER_OBJECT_LIST_CODEC_H_
