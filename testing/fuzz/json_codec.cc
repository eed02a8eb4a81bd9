// JSON, typed and unstructured: an object that can be read can be written, it then reads as the
// same, and a conversion through protobuf changes nothing. The text's own apiVersion and kind
// choose the type. Also lists and errors, whose bodies are untyped JSON.
#include <memory>
#include <string>

#include "google/protobuf/message.h"
#include "manager/object/api_error.h"
#include "manager/object/json.h"
#include "manager/object/json_text.h"
#include "manager/object/list_codec.h"
#include "manager/object/object_header.h"
#include "manager/object/raw_object.h"
#include "manager/object/testing/kubernetes_types.h"
#include "testing/fuzz/fuzz.h"

namespace mandate::fuzz {
namespace {

using google::protobuf::Descriptor;

std::string Member(const Json::Value& value, const char* name) {
  const Json::Value* member = FindMember(value, name);
  return member != nullptr && member->isString() ? member->asString() : "";
}

void CheckUnstructured(std::string_view text, const Json::Value& value) {
  const std::string written = WriteJson(value);
  const auto again = ParseJson(written);
  Require(again.ok(), "what is written is read", written, again.status());
  Require(*again == value, "what is written reads back as itself", written);
  Require(WriteJson(*again) == written, "the written form is its own", written);
  std::string compact;
  Require(AppendCompactJson(text, compact).ok(), "white space can be taken out", text);
  const auto compacted = ParseJson(compact);
  Require(compacted.ok() && *compacted == value, "only white space is taken out", compact);
}

void CheckTyped(std::string_view text, const Descriptor& type, const KindInfo& kind) {
  const auto& types = KubernetesTypes::Of("kubernetes");
  const auto read = types.New(type);
  if (!types.FromJson(text, *read).ok()) return;
  const auto written = types.ToJson(*read, &kind);
  Require(written.ok(), "what is read can be written", written.status());
  const auto again = types.New(type);
  const absl::Status status = types.FromJson(*written, *again, {.strict = true, .kind = &kind});
  Require(status.ok(), "what is written is read, strictly", *written, status);
  Require(*types.ToJson(*again, &kind) == *written, "the written form is its own", *written);
  const auto through = types.New(type);
  Require(through->ParsePartialFromString(read->SerializePartialAsString()),
          "what is read can be protobuf", *written);
  const auto after = types.ToJson(*through, &kind);
  Require(after.ok() && *after == *written, "protobuf changes nothing", *written, *after);
}

// The metadata that is read alone equals the typed reader's.
void CheckHeader(std::string_view text) {
  const auto& types = KubernetesTypes::Of("kubernetes", /*only_metadata=*/true);
  const auto header = ParseObjectHeader(text, Encoding::kJson);
  const auto object = types.New(*types.Find("v1", "Pod"));
  if (!header.ok() || !types.FromJson(text, *object).ok()) return;
  const auto bytes = ParseObjectHeader(object->SerializePartialAsString(), Encoding::kProtobuf);
  Require(bytes.ok(), "the header can be read of protobuf too", bytes.status());
  Require(*header == *bytes, "the header is the same in both encodings", text);
}

// Checks the other bodies that a server may send: lists and errors.
void CheckBodies(std::string_view text) {
  if (const auto list = ParseList(text, Encoding::kJson); list.ok()) {
    for (const auto& item : list->items) {
      const auto again = ParseRawObject(std::string(item->bytes()), Encoding::kJson);
      Require(again.ok() && (*again)->Header() == item->Header(), "an item is an object by itself");
    }
  }
  const absl::Status error = StatusFromResponse(500, text);
  Require(!error.ok() && HttpCode(error) == 500, "an error's body does not make it none", error);
}

}  // namespace
}  // namespace mandate::fuzz

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace mandate;
  using namespace mandate::fuzz;
  const std::string_view text = Text(data, size);
  std::string api_version = "apps/v1";
  std::string name = "Deployment";
  const auto& types = KubernetesTypes::Of("kubernetes");
  if (const auto value = ParseJson(text); value.ok()) {
    CheckUnstructured(text, *value);
    if (types.Find(Member(*value, "apiVersion"), Member(*value, "kind")) != nullptr) {
      api_version = Member(*value, "apiVersion");
      name = Member(*value, "kind");
    }
  }
  CheckTyped(text, *types.Find(api_version, name), KindInfoOf(api_version, name));
  CheckHeader(text);
  CheckBodies(text);
  return 0;
}
