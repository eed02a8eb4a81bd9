// A newer server sends fields that we do not know, as any server does to a client that knows less.
// Our updates must not lose these fields.
#include <iostream>
#include <memory>
#include <string>

#include "google/protobuf/descriptor.h"
#include "google/protobuf/message.h"
#include "google/protobuf/util/message_differencer.h"
#include "gtest/gtest.h"
#include "manager/object/envelope.h"
#include "manager/object/json.h"
#include "manager/object/object_codec.h"
#include "manager/object/raw_object.h"
#include "manager/object/testing/fixtures.h"
#include "manager/object/testing/kubernetes_types.h"

namespace mandate {
namespace {

using google::protobuf::Descriptor;
using google::protobuf::Message;
using google::protobuf::util::MessageDifferencer;

constexpr char kKey[] = "example.com/seen";

// Gives the object one more label, as a client would; false if it has no metadata.
bool AddLabel(Message& object) {
  const Descriptor& type = *object.GetDescriptor();
  const auto* metadata_field = type.FindFieldByName("metadata");
  if (metadata_field == nullptr || metadata_field->message_type()->name() != "ObjectMeta") {
    return false;
  }
  Message* metadata = object.GetReflection()->MutableMessage(&object, metadata_field);
  const auto* labels = metadata->GetDescriptor()->FindFieldByName("labels");
  Message* entry = metadata->GetReflection()->AddMessage(metadata, labels);
  entry->GetReflection()->SetString(entry, labels->message_type()->map_key(), kKey);
  entry->GetReflection()->SetString(entry, labels->message_type()->map_value(), "yes");
  return true;
}

// The protobuf after a client with `types` has added a label and sent it back; "" if the types do
// not have the kind, or it has no labels.
std::string Updated(const Fixture& fixture, const KubernetesTypes& types) {
  const Descriptor* type = types.Find(fixture.api_version, fixture.kind);
  if (type == nullptr) return "";
  const auto object = types.New(*type);
  EXPECT_TRUE(DecodeObject(fixture.protobuf, Encoding::kProtobuf, *object).ok());
  if (!AddLabel(*object)) return "";
  const auto bytes =
      EncodeObject(*object, KindInfoOf(fixture.api_version, fixture.kind), Encoding::kProtobuf);
  EXPECT_TRUE(bytes.ok()) << bytes.status();
  return *bytes;
}

// Whether the server, which knows all fields, finds only the new label in `updated`.
void ExpectOnlyLabelAdded(const Fixture& fixture, const std::string& updated) {
  const auto& server = KubernetesTypes::Of(fixture.repository);
  const Descriptor* type = server.Find(fixture.api_version, fixture.kind);
  ASSERT_NE(type, nullptr);
  const auto before = server.New(*type);
  const auto after = server.New(*type);
  ASSERT_TRUE(DecodeObject(fixture.protobuf, Encoding::kProtobuf, *before).ok());
  ASSERT_TRUE(DecodeObject(updated, Encoding::kProtobuf, *after).ok());
  EXPECT_FALSE(MessageDifferencer::Equals(*before, *after));
  AddLabel(*before);
  EXPECT_TRUE(MessageDifferencer::Equals(*before, *after));
}

TEST(NewerServerTest, AnUpdateByTheReleaseBeforeLosesNothing) {
  const auto& ours = KubernetesTypes::Of("kubernetes");
  int updated = 0;
  int unheard_of = 0;
  for (const Fixture& fixture : HeadFixtures("kubernetes_next")) {
    SCOPED_TRACE(fixture.stem);
    const std::string bytes = Updated(fixture, ours);
    if (bytes.empty()) continue;
    ++updated;
    ExpectOnlyLabelAdded(fixture, bytes);
    const auto object = ours.New(*ours.Find(fixture.api_version, fixture.kind));
    ASSERT_TRUE(DecodeObject(fixture.protobuf, Encoding::kProtobuf, *object).ok());
    std::string json = *ours.ToJson(*object, nullptr);
    // A field that we do not know is not in our JSON.
    const auto ours_in_json = ParseJson(json);
    auto theirs = ParseJson(fixture.json);
    theirs->removeMember("kind");
    theirs->removeMember("apiVersion");
    unheard_of += *ours_in_json == *theirs ? 0 : 1;
  }
  std::cout << updated << " kinds updated, " << unheard_of << " of them with unknown fields\n";
  EXPECT_GT(updated, 130);
  EXPECT_GT(unheard_of, 0);  // otherwise the test is empty: update kubernetes_next
}

// The least that a client can know about a kind: it has metadata.
TEST(NewerServerTest, AnUpdateByAClientThatKnowsOnlyMetadataLosesNothing) {
  const auto& client = KubernetesTypes::Of("kubernetes", /*only_metadata=*/true);
  int updated = 0;
  for (const Fixture& fixture : HeadFixtures("kubernetes")) {
    SCOPED_TRACE(fixture.stem);
    const std::string bytes = Updated(fixture, client);
    if (bytes.empty()) continue;
    ++updated;
    ExpectOnlyLabelAdded(fixture, bytes);
  }
  std::cout << updated << " kinds updated\n";
  EXPECT_GT(updated, 130);
}

// Unstructured JSON treats known and unknown fields in the same way.
TEST(NewerServerTest, UnstructuredJsonLosesNothing) {
  int unknown = 0;
  for (const Fixture& fixture : HeadFixtures("kubernetes_next")) {
    SCOPED_TRACE(fixture.stem);
    auto value = ParseJson(fixture.json);
    ASSERT_TRUE(value.ok()) << value.status();
    const auto& ours = KubernetesTypes::Of("kubernetes");
    unknown += ours.Find(fixture.api_version, fixture.kind) == nullptr ? 1 : 0;
    (*value)["metadata"]["labels"][kKey] = "yes";
    auto again = ParseJson(WriteJson(*value));
    ASSERT_TRUE(again.ok()) << again.status();
    EXPECT_EQ(*again, *value);
    // Only the label changed, by the writer's schema.
    const auto& server = KubernetesTypes::Of(fixture.repository);
    const Descriptor* type = server.Find(fixture.api_version, fixture.kind);
    if (type == nullptr || !AddLabel(*server.New(*type))) continue;
    const auto expected = server.New(*type);
    const auto actual = server.New(*type);
    ASSERT_TRUE(server.FromJson(fixture.json, *expected, {.strict = true}).ok());
    ASSERT_TRUE(server.FromJson(WriteJson(*value), *actual, {.strict = true}).ok());
    AddLabel(*expected);
    server.DropZeros(*expected);  // embedded values lose their white space, too
    server.DropZeros(*actual);
    EXPECT_TRUE(MessageDifferencer::Equals(*expected, *actual));
  }
  std::cout << unknown << " kinds unknown to us\n";
  EXPECT_GT(unknown, 0);
}

// The cache holds the bytes that came, also for unknown kinds.
TEST(NewerServerTest, RawObjectsKeepTheirBytes) {
  const auto& server = KubernetesTypes::Of("kubernetes_next");
  int objects = 0;
  for (const Fixture& fixture : HeadFixtures("kubernetes_next")) {
    SCOPED_TRACE(fixture.stem);
    const auto message = server.New(*server.Find(fixture.api_version, fixture.kind));
    if (!AddLabel(*message)) continue;
    const auto object = ParseRawObject(fixture.protobuf, Encoding::kProtobuf);
    ASSERT_TRUE(object.ok()) << object.status();
    EXPECT_EQ((*object)->name(), "nameValue");
    EXPECT_TRUE((*object)->bytes() == ParseEnvelope(fixture.protobuf)->raw);
    ++objects;
  }
  EXPECT_GT(objects, 130);
}

}  // namespace
}  // namespace mandate
