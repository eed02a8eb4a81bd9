// The blocks of docs/webhooks.md, with what their reader has at that place.
#include <algorithm>
#include <memory>
#include <utility>

#include "absl/status/statusor.h"
#include "controllers/memcached/kind.h"
#include "manager/admission/conversion.h"
#include "manager/admission/testing_widgets.h"
#include "manager/admission/typed.h"
#include "manager/component.h"

namespace mandate::docs {

using Widget = memcached::v1alpha1::Memcached;

#include "testing/docs/webhooks_1.inc"

namespace v1 {
using Widget = HubWidget;
}  // namespace v1
namespace v1alpha1 {
using Widget = SpokeWidget;
}  // namespace v1alpha1

#include "testing/docs/webhooks_2.inc"

void AddConversion(Webhooks& webhooks) {
#include "testing/docs/webhooks_3.inc"
}

}  // namespace mandate::docs
