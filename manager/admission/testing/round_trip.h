// Tests of a Converter: what an object loses on the way to the other version and back.
//
//   WidgetConverter converter;
//   EXPECT_EQ(LostByHub(converter, Filled<v1::Widget>()), "");
//   EXPECT_EQ(LostBySpoke(converter, Filled<v1alpha1::Widget>()), "");
#pragma once

#include <string>

#include "google/protobuf/message.h"
#include "manager/admission/conversion.h"
#include "manager/core/strings.h"

namespace mandate {

// Sets every field of the message, in its messages, lists and maps, too. No two values are equal
// but those of bools and enums. A message inside a message of its own type stays empty.
void FillFields(google::protobuf::Message& message);

// The fields in which `after` differs from `before`, one a line; "": none.
std::string Differences(const google::protobuf::Message& before,
                        const google::protobuf::Message& after);

// An object with every field outside metadata set, so that a test fails when a version gets a
// field that its converter does not know. The texts are no numbers, times or quantities: replace
// those that the converter parses.
template <Object T>
T Filled() {
  T object;
  FillFields(object);
  auto& metadata = *object.mutable_metadata();
  metadata.Clear();
  metadata.set_namespace_("default");
  metadata.set_name("filled");
  (*metadata.mutable_labels())["label"] = "kept";
  (*metadata.mutable_annotations())["example.com/annotation"] = "kept";
  return object;
}

// The fields that differ after the hub's object was converted to the spoke and back; "": none. If
// the converter fails, its error.
template <Object Hub, Object Spoke>
std::string LostByHub(Converter<Hub, Spoke>& converter, const Hub& hub) {
  Spoke spoke;
  *spoke.mutable_metadata() = hub.metadata();
  if (const absl::Status status = converter.FromHub(hub, spoke); !status.ok()) {
    return StrCat("FromHub: ", status.ToString());
  }
  Hub back;
  *back.mutable_metadata() = spoke.metadata();
  if (const absl::Status status = converter.ToHub(spoke, back); !status.ok()) {
    return StrCat("ToHub: ", status.ToString());
  }
  Hub before = hub;
  before.mutable_metadata();  // an object without metadata gets an empty one
  return Differences(before, back);
}

// The same for the spoke's object, converted to the hub and back.
template <Object Hub, Object Spoke>
std::string LostBySpoke(Converter<Hub, Spoke>& converter, const Spoke& spoke) {
  Hub hub;
  *hub.mutable_metadata() = spoke.metadata();
  if (const absl::Status status = converter.ToHub(spoke, hub); !status.ok()) {
    return StrCat("ToHub: ", status.ToString());
  }
  Spoke back;
  *back.mutable_metadata() = hub.metadata();
  if (const absl::Status status = converter.FromHub(hub, back); !status.ok()) {
    return StrCat("FromHub: ", status.ToString());
  }
  Spoke before = spoke;
  before.mutable_metadata();
  return Differences(before, back);
}

}  // namespace mandate
