// Unusual kinds for tests: .proto files with random fields whose names in JSON are known.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace mandate::rbacgen {

struct RandomField {
  enum class Type {
    kString,
    kInt32,
    kInt64,
    kBool,
    kBytes,
    kQuantity,
    kTime,
    kIntOrString,
    kMessage
  };
  enum class Shape { kOne, kList, kMap };

  std::string name;      // the name in the .proto file
  std::string json;      // the required name in JSON; made together with `name`, not from it
  bool renamed = false;  // whether json_name sets the name in JSON
  Type type = Type::kString;
  Shape shape = Shape::kOne;
  size_t message = 0;  // for kMessage: its index in RandomKind::messages
  // Whether it is in the message's oneof; an object has the first or the last of its fields.
  bool in_oneof = false;
  bool required = false;
  bool immutable = false;
  std::string list_key;  // for a list of type map: the JSON name of the items' key
};

struct RandomMessage {
  std::string name;
  std::vector<RandomField> fields;  // field i has number i + 1
};

// A namespaced CustomResourceDefinition of group random.example.com/v1. Its scale subresource uses
// the first fields of spec and status.
struct RandomKind {
  std::string kind;
  std::string plural;
  std::vector<RandomMessage> messages;  // the spec, the status, and the messages that they contain
  std::string text;                     // the text of the .proto file
};

constexpr char kRandomGroup[] = "random.example.com";
constexpr char kRandomVersion[] = "v1";

// Makes the same kind for the same seed.
RandomKind MakeRandomKind(uint64_t seed);

}  // namespace mandate::rbacgen
