#include "rbacgen/emit/crd/testing/random_kind.h"

#include <algorithm>
#include <random>
#include <set>
#include <string_view>
#include <tuple>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "manager/core/strings.h"

namespace mandate::rbacgen {
namespace {

using Type = RandomField::Type;
using Shape = RandomField::Shape;

// The words include keywords of CEL, protobuf, C++, JSON schema and Kubernetes.
constexpr std::string_view kWords[] = {
    "ready",     "size",     "name",  "labels",    "url",     "port",    "time",     "class",
    "namespace", "in",       "for",   "true",      "package", "map",     "optional", "string",
    "items",     "data",     "value", "metadata",  "status",  "kind",    "spec",     "message",
    "type",      "required", "self",  "id",        "api",     "version", "default",  "null",
    "ref",       "x",        "y",     "properties"};

class Maker {
 public:
  explicit Maker(uint64_t seed) : seed_(seed), bits_(seed) {}

  RandomKind Make() {
    RandomKind kind;
    kind.kind = StrCat("R", seed_);
    kind.plural = StrCat("r", seed_, "s");
    const size_t count = 2 + Below(4);
    for (size_t i = 0; i < count; ++i) {
      kind.messages.push_back({i == 0 ? "Spec" : i == 1 ? "Status" : StrCat("M", i), {}});
    }
    // Later messages come first, because a field needs the name of the key of its items.
    for (size_t i = count; i-- > 0;) AddFields(i, kind.messages);
    kind.text = Text(kind);
    return kind;
  }

 private:
  size_t Below(size_t limit) { return std::uniform_int_distribution<size_t>(0, limit - 1)(bits_); }
  bool Chance(size_t one_in) { return Below(one_in) == 0; }

  static std::string Capital(std::string word) {
    word[0] = absl::ascii_toupper(static_cast<unsigned char>(word[0]));
    return word;
  }

  // A name as it is spelled in the .proto file, and the name that it must have in JSON.
  std::pair<std::string, std::string> Spell() {
    std::vector<std::string> words;
    std::string camel;
    const size_t count = 1 + Below(3);
    for (size_t i = 0; i < count; ++i) {
      words.emplace_back(kWords[Below(std::size(kWords))]);
      camel += i == 0 ? words.back() : Capital(words.back());
    }
    const std::string digit = StrCat(Below(10));
    switch (Below(9)) {
      case 0:
        return {camel, camel};
      case 1:
        return {StrCat(absl::StrJoin(words, "_"), "_"), camel};
      case 2:
        return {StrCat(absl::StrJoin(words, "_"), "_", digit), camel + digit};
      case 3:
        return {StrCat(words[0], digit, "_", words.back()),
                StrCat(words[0], digit, Capital(words.back()))};
      case 4:
        return {absl::StrJoin(words, "__"), camel};
      case 5:
        return {StrCat("URL_", words[0]), StrCat("URL", Capital(words[0]))};
      case 6:
        return {StrCat("_", absl::StrJoin(words, "_")), Capital(camel)};
      default:
        return {absl::StrJoin(words, "_"), camel};
    }
  }

  // A name for [json_name = "…"], which replaces protobuf's own name.
  std::string OwnName() {
    const std::string_view word = kWords[Below(std::size(kWords))];
    const std::string_view other = kWords[Below(std::size(kWords))];
    switch (Below(4)) {
      case 0:
        return StrCat(word, "-", other);
      case 1:
        return StrCat(word, "_", other);
      case 2:
        return StrCat(word, "__", Below(100));
      default:
        return StrCat(word, Capital(std::string(other)), "Too");
    }
  }

  // False if the names conflict by the rules of protobuf (proto3) or of rbacgen.
  static bool Claim(const RandomField& field, std::set<std::string>* names,
                    std::set<std::string>* jsons) {
    const std::string name =
        absl::StrReplaceAll(AsAbsl(absl::AsciiStrToLower(field.name)), {{"_", ""}});
    const std::string json = absl::AsciiStrToLower(field.json);
    if (names->contains(name) || jsons->contains(json)) return false;
    names->insert(name);
    jsons->insert(json);
    return true;
  }

  void AddFields(size_t index, std::vector<RandomMessage>& messages) {
    RandomMessage& message = messages[index];
    std::set<std::string> names;
    std::set<std::string> jsons;
    if (index < 2) {
      RandomField& replicas = message.fields.emplace_back();
      replicas.name = index == 0 ? "desired_replicas" : "ready_replicas";
      replicas.json = index == 0 ? "desiredReplicas" : "readyReplicas";
      replicas.type = Type::kInt32;
      Claim(message.fields[0], &names, &jsons);
    }
    const size_t count = message.fields.size() + 2 + Below(7);
    while (message.fields.size() < count) {
      RandomField field;
      std::tie(field.name, field.json) = Spell();
      // Without json_name, the field must get protobuf's own name.
      field.renamed = Chance(4);
      if (field.renamed && !Chance(5)) field.json = OwnName();
      if (!Claim(field, &names, &jsons)) continue;
      // The spec and the status contain messages that come after both; these contain later ones.
      const size_t inner = std::max<size_t>(index + 1, 2);
      const bool may_nest = inner < messages.size();
      field.type = may_nest && Chance(3)
                       ? Type::kMessage
                       : static_cast<Type>(Below(static_cast<size_t>(Type::kMessage)));
      if (field.type == Type::kMessage) field.message = inner + Below(messages.size() - inner);
      field.shape = static_cast<Shape>(Below(5) < 3 ? 0 : 1 + Below(2));
      const bool is_first = message.fields.empty();
      if (is_first) {  // a list of type map can have this field as its key
        field.type = Type::kString;
        field.shape = Shape::kOne;
        field.required = true;
      } else {
        Adorn(index, messages, &field);
      }
      message.fields.push_back(std::move(field));
    }
    AddOneof(&message);
  }

  void Adorn(size_t index, const std::vector<RandomMessage>& messages, RandomField* field) {
    if (field->type == Type::kMessage && field->shape == Shape::kList && Chance(2)) {
      field->list_key = messages[field->message].fields[0].json;
    }
    if (field->shape != Shape::kOne) return;
    field->required = Chance(4);
    field->immutable = index == 0 && field->type == Type::kString && Chance(2);
  }

  // Puts the last two fields into a oneof, if they can be in one.
  void AddOneof(RandomMessage* message) {
    if (message->fields.size() < 4 || Chance(2)) return;
    for (size_t i = message->fields.size() - 2; i < message->fields.size(); ++i) {
      if (message->fields[i].shape != Shape::kOne) return;
    }
    for (size_t i = message->fields.size() - 2; i < message->fields.size(); ++i) {
      message->fields[i].in_oneof = true;
      message->fields[i].required = message->fields[i].immutable = false;
    }
  }

  static std::string TypeText(const RandomKind& kind, const RandomField& field) {
    switch (field.type) {
      case Type::kString:
        return "string";
      case Type::kInt32:
        return "int32";
      case Type::kInt64:
        return "int64";
      case Type::kBool:
        return "bool";
      case Type::kBytes:
        return "bytes";
      case Type::kQuantity:
        return ".k8s.io.apimachinery.pkg.api.resource.Quantity";
      case Type::kTime:
        return ".k8s.io.apimachinery.pkg.apis.meta.v1.Time";
      case Type::kIntOrString:
        return ".k8s.io.apimachinery.pkg.util.intstr.IntOrString";
      case Type::kMessage:
        break;
    }
    return kind.messages[field.message].name;
  }

  static std::string OptionsText(const RandomField& field) {
    std::string schema;
    if (field.required) schema += "required: true ";
    if (field.immutable) schema += "immutable: true ";
    // Without limits, CEL rules within would cost too much.
    if (field.shape == Shape::kList) schema += "maxItems: 4 ";
    if (field.shape == Shape::kMap) schema += "maxProperties: 4 ";
    if (!field.list_key.empty()) {
      StrAppend(&schema, "listType: \"map\" listMapKeys: \"", field.list_key, "\" ");
    }
    std::vector<std::string> options;
    if (field.renamed) options.push_back(StrCat("json_name = \"", field.json, "\""));
    if (!schema.empty()) options.push_back(StrCat("(mandate.api.schema) = { ", schema, "}"));
    return options.empty() ? "" : StrCat(" [", absl::StrJoin(options, ", "), "]");
  }

  static std::string FieldText(const RandomKind& kind, const RandomField& field, size_t number) {
    const std::string type = TypeText(kind, field);
    const std::string label = field.in_oneof                ? type
                              : field.shape == Shape::kList ? StrCat("repeated ", type)
                              : field.shape == Shape::kMap  ? StrCat("map<string, ", type, ">")
                                                            : StrCat("optional ", type);
    return StrCat("  ", label, " ", field.name, " = ", number, OptionsText(field), ";\n");
  }

  std::string Text(const RandomKind& kind) {
    std::string text = StrCat(
        "syntax = \"", Chance(2) ? "proto2" : "proto3", "\";\npackage random.s", seed_, ";\n",
        "import \"api/mandate/options.proto\";\n",
        "import \"k8s.io/apimachinery/pkg/api/resource/generated.proto\";\n",
        "import \"k8s.io/apimachinery/pkg/apis/meta/v1/generated.proto\";\n",
        "import \"k8s.io/apimachinery/pkg/util/intstr/generated.proto\";\n", "message ", kind.kind,
        " {\n  option (mandate.api.resource) = { group: \"", kRandomGroup, "\" version: \"",
        kRandomVersion, "\" plural: \"", kind.plural, "\" scope: \"Namespaced\"\n",
        "    scale { specReplicasPath: \".spec.desiredReplicas\" statusReplicasPath: "
        "\".status.readyReplicas\" } };\n",
        "  optional .k8s.io.apimachinery.pkg.apis.meta.v1.ObjectMeta metadata = 1;\n",
        "  optional Spec spec = 2;\n  optional Status status = 3;\n}\n");
    for (const RandomMessage& message : kind.messages) {
      StrAppend(&text, "message ", message.name, " {\n");
      bool open = false;
      for (size_t i = 0; i < message.fields.size(); ++i) {
        if (message.fields[i].in_oneof && !std::exchange(open, true)) text += "  oneof choice {\n";
        text += FieldText(kind, message.fields[i], i + 1);
      }
      text += open ? "  }\n}\n" : "}\n";
    }
    return text;
  }

  const uint64_t seed_;
  std::mt19937_64 bits_;
};

}  // namespace

RandomKind MakeRandomKind(uint64_t seed) { return Maker(seed).Make(); }

}  // namespace mandate::rbacgen
