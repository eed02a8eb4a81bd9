// The body of a LIST response, cut into its objects without decoding them.
#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
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
};

// A reader of a list in chunks. Beside the objects it holds no more than one item and one chunk. An
// item that is not an object is an error of the list, which names its index. JSON items have
// apiVersion and kind only if the server wrote them; protobuf items never have them.
//
//   ListReader reader(encoding);
//   for (…) RETURN_IF_ERROR(reader.Feed(chunk));
//   ASSIGN_OR_RETURN(RawList list, std::move(reader).Finish());
//
// One thread only.
class ListReader {
 public:
  struct Options {
    JsonLimits json;  // max_depth: of an item
    // The limit of an item, and of anything else that can only be read whole; beyond it
    // kResourceExhausted.
    size_t max_item_bytes = std::numeric_limits<size_t>::max();
  };

  explicit ListReader(Encoding encoding) : ListReader(encoding, Options()) {}
  ListReader(Encoding encoding, const Options& options);
  ~ListReader();

  // kInvalidArgument when the text is not the start of a list. An error is final.
  absl::Status Feed(std::string_view bytes);

  // The bytes have ended. kInvalidArgument also when they ended before the list did.
  absl::StatusOr<RawList> Finish() &&;

  // The items that were read since the last call. Finish() returns those that were not taken.
  std::vector<std::shared_ptr<const RawObject>> TakeItems() {
    return std::exchange(list_.items, {});
  }
  // The bytes that were fed and are not part of an item yet.
  size_t pending_bytes() const { return pending_.size(); }

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
  std::string pending_;  // not read yet
  // The size of pending_ at which it is read again. It doubles, since each try reads all of it.
  size_t look_at_ = 0;
  absl::Status status_;
};

// Reads a whole body at once. `limits` are those of a JSON body; max_depth is of an item.
absl::StatusOr<RawList> ParseList(std::string_view body, Encoding encoding,
                                  const JsonLimits& limits = {});

}  // namespace mandate
