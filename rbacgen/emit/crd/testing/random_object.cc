#include "rbacgen/emit/crd/testing/random_object.h"

#include <random>
#include <utility>

#include "absl/strings/escaping.h"
#include "manager/core/status_macros.h"
#include "manager/core/strings.h"
#include "manager/object/json_walker.h"
#include "rbacgen/markers/source_files.h"

namespace mandate::rbacgen {
namespace {

using Type = RandomField::Type;
using Shape = RandomField::Shape;

class Filler {
 public:
  Filler(const RandomKind& kind, uint64_t seed) : kind_(kind), bits_(seed) {}

  Json::Value Object() {
    Json::Value object(Json::objectValue);
    object["apiVersion"] = StrCat(kRandomGroup, "/", kRandomVersion);
    object["kind"] = kind_.kind;
    object["metadata"]["namespace"] = "default";
    object["metadata"]["name"] = "random";
    object["spec"] = Message(0);
    object["status"] = Message(1);
    return object;
  }

 private:
  size_t Below(size_t limit) { return std::uniform_int_distribution<size_t>(0, limit - 1)(bits_); }

  Json::Value Message(size_t index) {
    Json::Value object(Json::objectValue);
    const bool last = Below(2) == 0;
    const auto& fields = kind_.messages[index].fields;
    for (size_t i = 0; i < fields.size(); ++i) {
      if (fields[i].in_oneof && last != (i + 1 == fields.size())) continue;
      object[fields[i].json] = Field(fields[i]);
    }
    return object;
  }

  Json::Value Field(const RandomField& field) {
    if (field.shape == Shape::kOne) return One(field);
    Json::Value many(field.shape == Shape::kList ? Json::arrayValue : Json::objectValue);
    for (size_t i = 1 + Below(3); i > 0; --i) {
      if (field.shape == Shape::kList) {
        many.append(One(field));
      } else {
        many[StrCat("a_key-", i)] = One(field);
      }
    }
    return many;
  }

  Json::Value One(const RandomField& field) {
    const auto number = static_cast<int>(++count_);
    switch (field.type) {
      case Type::kString:
        return StrCat("s", number);
      case Type::kInt32:
        return number;
      case Type::kInt64:
        return Json::Int64{1} << 60 | number;
      case Type::kBool:
        return number % 2 == 0;
      case Type::kBytes: {
        std::string text;
        absl::Base64Escape(AsAbsl(StrCat("b", number)), &text);
        return text;
      }
      case Type::kQuantity:
        return StrCat(number, "Mi");
      case Type::kTime:
        return "2026-01-02T03:04:05Z";
      case Type::kIntOrString:
        if (number % 2 == 0) return number;
        return StrCat(number, "%");
      case Type::kMessage:
        break;
    }
    return Message(field.message);
  }

  const RandomKind& kind_;
  std::mt19937_64 bits_;
  size_t count_ = 0;  // every scalar has another value, so that mixed-up fields are found
};

std::vector<std::string> With(const std::string& folder, std::vector<std::string> others) {
  others.insert(others.begin(), folder);
  return others;
}

}  // namespace

Json::Value MakeRandomObject(const RandomKind& kind, uint64_t seed) {
  return Filler(kind, seed).Object();
}

LoadedKind::LoadedKind(RandomKind kind, std::vector<std::string> folders)
    : kind_(std::move(kind)), files_(folders, &diagnostics_) {}

absl::StatusOr<std::unique_ptr<LoadedKind>> LoadedKind::Load(RandomKind kind,
                                                             const std::string& folder,
                                                             std::vector<std::string> proto_paths) {
  const std::string path = StrCat(folder, "/", kind.plural, ".proto");
  RETURN_IF_ERROR(WriteWholeFile(path, kind.text));
  std::unique_ptr<LoadedKind> loaded(
      new LoadedKind(std::move(kind), With(folder, std::move(proto_paths))));
  const auto* file = loaded->files_.Load(path);
  std::vector<Definition> definitions;
  if (file != nullptr) {
    definitions = MakeDefinitions({file}, loaded->files_, {}, &loaded->diagnostics_);
    loaded->descriptor_ = file->FindMessageTypeByName(loaded->kind_.kind);
  }
  const std::string report = loaded->diagnostics_.Report();
  if (!report.empty() || definitions.size() != 1 || loaded->descriptor_ == nullptr) {
    return absl::InvalidArgumentError(StrCat(report, "\n", loaded->kind_.text));
  }
  loaded->definition_ = std::move(definitions[0]);
  return loaded;
}

std::unique_ptr<google::protobuf::Message> LoadedKind::New() {
  return std::unique_ptr<google::protobuf::Message>(factory_.GetPrototype(descriptor_)->New());
}

KindInfo LoadedKind::Info() const {
  return {kRandomGroup, kRandomVersion, kind_.kind, kind_.plural};
}

absl::StatusOr<std::string> LoadedKind::ToJson(const google::protobuf::Message& message) {
  const KindInfo info = Info();
  std::string out;
  RETURN_IF_ERROR(EncodeJson(*plans_.Of(*descriptor_), message, &info, out));
  return out;
}

absl::Status LoadedKind::FromJson(std::string_view json, google::protobuf::Message& out) {
  const KindInfo info = Info();
  FromJsonOptions options;
  options.strict = true;
  options.kind = &info;
  out.Clear();
  return DecodeJson(*plans_.Of(*descriptor_), json, options, out);
}

}  // namespace mandate::rbacgen
