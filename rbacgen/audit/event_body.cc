#include "rbacgen/audit/event_body.h"

#include <charconv>

namespace mandate::rbacgen {
namespace {

using Token = JsonCursor::Token;

constexpr std::string_view kInstanceLabel = "operators.coreos.io/scopeInstanceUID";

// Calls read(key) for each member of an object; read() must consume the value. Skips other values,
// because a client can send any body.
template <class Read>
void Members(JsonCursor& json, Read read) {
  if (json.Peek() != Token::kObject) {
    json.SkipValue();
    return;
  }
  std::string_view key;
  for (json.BeginObject(); json.NextMember(&key);) read(key);
}

template <class Read>
void Elements(JsonCursor& json, Read read) {
  if (json.Peek() != Token::kArray) {
    json.SkipValue();
    return;
  }
  for (json.BeginArray(); json.NextElement();) read();
}

std::string Text(JsonCursor& json) {
  std::string_view value;
  if (json.Peek() != Token::kString || !json.ReadString(&value)) json.SkipValue();
  return std::string(value);
}

int64_t Number(JsonCursor& json) {
  std::string_view literal;
  int64_t number = 0;
  if (json.Peek() != Token::kNumber) {
    json.SkipValue();
  } else if (json.ReadNumber(&literal)) {
    std::from_chars(literal.data(), literal.data() + literal.size(), number);
  }
  return number;
}

void ReadTokenRequest(JsonCursor& json, EventBody* facts) {
  TokenRequestFacts& asked = facts->token_request.emplace();
  Members(json, [&](std::string_view key) {
    if (key != "spec") {
      json.SkipValue();
      return;
    }
    Members(json, [&](std::string_view field) {
      if (field == "audiences") {
        Elements(json, [&] { asked.audiences.push_back(Text(json)); });
      } else if (field == "expirationSeconds") {
        asked.expiration_seconds = Number(json);
      } else if (field == "boundObjectRef") {
        Members(json, [&](std::string_view name) {
          if (name == "kind") {
            asked.bound_kind = Text(json);
          } else if (name == "name") {
            asked.bound_name = Text(json);
          } else {
            json.SkipValue();
          }
        });
      } else {
        json.SkipValue();
      }
    });
  });
}

void ReadOwner(JsonCursor& json, EventBody* facts) {
  std::string kind, uid;
  Members(json, [&](std::string_view key) {
    if (key == "kind") {
      kind = Text(json);
    } else if (key == "uid") {
      uid = Text(json);
    } else {
      json.SkipValue();
    }
  });
  if (kind == "ScopeInstance") facts->instance_uid = uid;
}

void ReadBinding(JsonCursor& json, EventBody* facts) {
  Members(json, [&](std::string_view key) {
    if (key != "metadata") {
      json.SkipValue();
      return;
    }
    Members(json, [&](std::string_view field) {
      if (field == "labels") {
        Members(json, [&](std::string_view label) {
          if (label != kInstanceLabel) {
            json.SkipValue();
          } else if (std::string uid = Text(json); facts->instance_uid.empty()) {
            facts->instance_uid = std::move(uid);
          }
        });
      } else if (field == "ownerReferences") {
        Elements(json, [&] { ReadOwner(json, facts); });
      } else {
        json.SkipValue();
      }
    });
  });
}

// Reads a ScopeInstance or a list of them, also from the Table that kubectl requests.
void ReadInstances(JsonCursor& json, EventBody* facts) {
  bool more = false;
  Members(json, [&](std::string_view key) {
    if (key == "metadata") {
      Members(json, [&](std::string_view field) {
        if (field == "uid") {
          facts->uids.push_back(Text(json));
        } else if (field == "continue") {
          more = !Text(json).empty();
        } else {
          json.SkipValue();
        }
      });
    } else if (key == "items") {
      facts->is_list = true;
      Elements(json, [&] { ReadInstances(json, facts); });
    } else if (key == "rows") {
      facts->is_list = true;
      Elements(json, [&] {
        const size_t before = facts->uids.size();
        Members(json, [&](std::string_view field) {
          if (field == "object") {
            ReadInstances(json, facts);
          } else {
            json.SkipValue();
          }
        });
        // Rows without objects (includeObject=None) do not have the UIDs.
        more = more || facts->uids.size() == before;
      });
    } else {
      json.SkipValue();
    }
  });
  facts->is_list = facts->is_list && !more;
}

}  // namespace

bool HasFacts(std::string_view group, std::string_view resource, std::string_view subresource) {
  if (resource == "serviceaccounts") return group.empty() && subresource == "token";
  if (resource == "scopeinstances") return group == "operators.coreos.com";
  return (resource == "rolebindings" || resource == "clusterrolebindings") &&
         group == "rbac.authorization.k8s.io" && subresource.empty();
}

void ReadBody(JsonCursor& json, std::string_view resource, bool is_request, EventBody* facts) {
  // For ScopeInstances only the response body counts, because a request may claim any UID.
  if (is_request == (resource == "scopeinstances")) {
    json.SkipValue();
  } else if (resource == "scopeinstances") {
    ReadInstances(json, facts);
  } else if (resource == "serviceaccounts") {
    ReadTokenRequest(json, facts);
  } else {
    ReadBinding(json, facts);
  }
}

}  // namespace mandate::rbacgen
