// Lists: the result, including whether the body is a list, does not depend on how the bytes are cut
// into chunks.
//
// The first byte chooses the encoding and the bound, the second how the rest is cut.
#include <algorithm>
#include <string>

#include "manager/core/strings.h"
#include "manager/object/list_codec.h"
#include "testing/fuzz/fuzz.h"

namespace mandate::fuzz {
namespace {

// The list's metadata and items as text; "" if the body is not a list. If `cut` is 0, feeds all
// bytes at once; otherwise `cut` is the seed of the chunks' sizes.
std::string Read(std::string_view body, Encoding encoding, const ListReader::Options& options,
                 unsigned cut) {
  ListReader reader(encoding, options);
  while (!body.empty()) {
    size_t size = body.size();
    if (cut > 0) {
      cut = cut * 1103515245 + 12345;
      size = std::min(size, size_t{1} + (cut >> 16) % 7);
    }
    if (!reader.Feed(body.substr(0, size)).ok()) return "";
    body.remove_prefix(size);
  }
  const auto list = std::move(reader).Finish();
  if (!list.ok()) {
    Require(list.status().code() != absl::StatusCode::kInternal, "an error of the input is no bug",
            list.status());
    return "";
  }
  std::string text = StrCat(list->resource_version, " ", list->continue_token, " ",
                            list->remaining.value_or(-1), "\n");
  for (const auto& item : list->items) {
    Require(!item->name().empty(), "an item has a name");
    Require(item->bytes().size() <= options.max_item_bytes, "no item is beyond the bound");
    text += StrCat(item->bytes(), "\n");
  }
  return text;
}

}  // namespace
}  // namespace mandate::fuzz

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace mandate;
  using namespace mandate::fuzz;
  if (size < 2) return 0;
  const Encoding encoding = (data[0] & 1) != 0 ? Encoding::kProtobuf : Encoding::kJson;
  ListReader::Options options;
  if ((data[0] & 2) != 0) options.max_item_bytes = 24;
  const std::string_view body = Text(data, size).substr(2);
  const std::string whole = Read(body, encoding, options, 0);
  Require(whole == Read(body, encoding, options, 1u + data[1]), "chunks do not change the list");
  if ((data[0] & 2) == 0) {
    Require(ParseList(body, encoding).ok() == !whole.empty(), "one call reads what many read");
  }
  return 0;
}
