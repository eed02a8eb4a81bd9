// The block of docs/object.md, with what its reader has at that place.
#include <string>

#include "manager/object/json.h"
#include "manager/object/json_codec.h"
#include "manager/object/kinds/rbac_v1.h"
#include "manager/object/object_codec.h"
#include "manager/object/raw_object.h"

namespace mandate::docs {

bool Convert(const rbacv1::Role& role, const std::string& text, rbacv1::Role& instance) {
#include "testing/docs/object_1.inc"
  return json.ok() && status.ok() && object.ok() && tree.ok();
}

}  // namespace mandate::docs
