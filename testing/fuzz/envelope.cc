// The protobuf envelope and its object: an envelope that can be read can be written, and then reads
// as the same; the metadata that is read without a type equals the result of protobuf's own parser.
#include "manager/object/envelope.h"

#include <map>
#include <memory>
#include <string>

#include "google/protobuf/message.h"
#include "k8s.io/apimachinery/pkg/apis/meta/v1/generated.pb.h"
#include "manager/object/list_codec.h"
#include "manager/object/metadata_reader.h"
#include "manager/object/object_codec.h"
#include "manager/object/object_header.h"
#include "manager/object/raw_object.h"
#include "manager/object/testing/kubernetes_types.h"
#include "testing/fuzz/fuzz.h"

namespace mandate::fuzz {
namespace {

using k8s::io::apimachinery::pkg::apis::meta::v1::PartialObjectMetadata;

void CheckObject(std::string_view bytes, const Envelope& envelope) {
  const auto& types = KubernetesTypes::Of("kubernetes");
  const auto* type = types.Find(envelope.api_version, envelope.kind);
  if (type == nullptr) type = types.Find("apps/v1", "Deployment");
  const auto object = types.New(*type);
  if (!DecodeObject(bytes, Encoding::kProtobuf, *object).ok()) return;
  const KindInfo kind = KindInfoOf(envelope.api_version, envelope.kind);
  const auto written = EncodeObject(*object, kind, Encoding::kProtobuf);
  Require(written.ok(), "what is read can be written", written.status());
  const auto again = types.New(*type);
  const absl::Status status = DecodeObject(*written, Encoding::kProtobuf, *again);
  Require(status.ok(), "what is written is read", status);
  Require(*EncodeObject(*again, kind, Encoding::kProtobuf) == *written,
          "the written form is its own");
  // Some protobuf has no JSON form, such as text that is not UTF-8. If the object has one, it is
  // read again.
  if (const auto json = types.ToJson(*object, &kind); json.ok()) {
    const auto read = types.FromJson(*json, *again, {.strict = true});
    // Reading may fail: times may be out of RFC 3339's range, and keys may become equal as U+FFFD.
    if (read.ok()) {
      Require(types.ToJson(*again, &kind).ok(), "what is read as JSON can be written", *json);
    }
  }
}

ObjectHeader Expected(const PartialObjectMetadata& object) {
  const auto& metadata = object.metadata();
  ObjectHeader header;
  header.ns = metadata.namespace_();
  header.name = metadata.name();
  header.uid = metadata.uid();
  header.resource_version = metadata.resourceversion();
  header.generation = metadata.generation();
  header.labels = {metadata.labels().begin(), metadata.labels().end()};
  header.annotations = {metadata.annotations().begin(), metadata.annotations().end()};
  for (const auto& owner : metadata.ownerreferences()) {
    header.owners.push_back(
        {owner.apiversion(), owner.kind(), owner.name(), owner.uid(), owner.controller()});
  }
  header.finalizers = {metadata.finalizers().begin(), metadata.finalizers().end()};
  const auto& deletion = metadata.deletiontimestamp();
  header.deleting = deletion.has_seconds() || deletion.has_nanos();
  return header;
}

void CheckHeader(std::string_view raw) {
  const auto header = ParseObjectHeader(raw, Encoding::kProtobuf);
  PartialObjectMetadata object;
  if (!object.ParsePartialFromString(std::string(raw)) || !header.ok()) return;
  Require(*header == Expected(object), "the header is what protobuf's own parser finds",
          object.ShortDebugString());
  const auto held = ParseRawObject(std::string(raw), Encoding::kProtobuf);
  Require(held.ok() == !header->name.empty(), "exactly what has a name is an object");
  if (!held.ok()) return;
  Require((*held)->Header() == *header && (*held)->name() == header->name &&
              (*held)->ns() == header->ns && (*held)->uid() == header->uid &&
              (*held)->resource_version() == header->resource_version,
          "a raw object has the header of its bytes");
  if (const auto leading = LeadingMetadata(raw)) {
    const auto part = ParseMetadataFields(*leading);
    Require(part.ok() && *part == *header, "the leading part of the metadata has all of it");
  }
}

}  // namespace
}  // namespace mandate::fuzz

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace mandate;
  using namespace mandate::fuzz;
  const std::string_view bytes = Text(data, size);
  CheckHeader(bytes);
  if (const auto list = ParseList(bytes, Encoding::kProtobuf); list.ok()) {
    for (const auto& item : list->items) Require(!item->name().empty(), "an item has a name");
  }
  const auto envelope = ParseEnvelope(bytes);
  if (!envelope.ok()) return 0;
  const std::string written = WriteEnvelope(*envelope);
  const auto again = ParseEnvelope(written);
  Require(again.ok(), "what is written is an envelope", again.status());
  Require(again->api_version == envelope->api_version && again->kind == envelope->kind &&
              again->raw == envelope->raw,
          "the envelope is the same again");
  CheckObject(bytes, *envelope);
  CheckHeader(envelope->raw);
  return 0;
}
