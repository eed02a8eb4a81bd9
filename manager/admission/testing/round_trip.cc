#include "manager/admission/testing/round_trip.h"

#include <algorithm>
#include <vector>

#include "google/protobuf/descriptor.h"
#include "google/protobuf/util/message_differencer.h"

namespace mandate {
namespace {

using google::protobuf::Descriptor;
using google::protobuf::FieldDescriptor;
using google::protobuf::Message;
using google::protobuf::Reflection;

// Fills messages with values that it counts.
class Filler {
 public:
  void Fill(Message& message) {
    const Descriptor* const type = message.GetDescriptor();
    if (std::count(within_.begin(), within_.end(), type) > 0) return;
    within_.push_back(type);
    for (int i = 0; i < type->field_count(); ++i) {
      const FieldDescriptor& field = *type->field(i);
      FillField(message, field);
      if (field.is_repeated()) FillField(message, field);
    }
    within_.pop_back();
  }

 private:
  // Sets the field, or adds an item to it.
  void FillField(Message& message, const FieldDescriptor& field) {
    const Reflection& of = *message.GetReflection();
    const bool repeated = field.is_repeated();
    ++count_;
    switch (field.cpp_type()) {
#define SET(TYPE, NAME, VALUE)          \
  case FieldDescriptor::CPPTYPE_##TYPE: \
    return repeated ? of.Add##NAME(&message, &field, VALUE) : of.Set##NAME(&message, &field, VALUE)
      SET(INT32, Int32, count_);
      SET(INT64, Int64, count_);
      SET(UINT32, UInt32, static_cast<uint32_t>(count_));
      SET(UINT64, UInt64, static_cast<uint64_t>(count_));
      SET(DOUBLE, Double, count_);
      SET(FLOAT, Float, static_cast<float>(count_));
      SET(BOOL, Bool, true);
      SET(STRING, String, StrCat(field.name(), "-", count_));
      SET(ENUM, Enum, field.enum_type()->value(field.enum_type()->value_count() - 1));
#undef SET
      case FieldDescriptor::CPPTYPE_MESSAGE:
        Fill(repeated ? *of.AddMessage(&message, &field) : *of.MutableMessage(&message, &field));
    }
  }

  std::vector<const Descriptor*> within_;
  int count_ = 0;
};

}  // namespace

void FillFields(Message& message) { Filler().Fill(message); }

std::string Differences(const Message& before, const Message& after) {
  std::string report;
  google::protobuf::util::MessageDifferencer differencer;
  differencer.ReportDifferencesToString(&report);
  differencer.Compare(before, after);
  return report;
}

}  // namespace mandate
