// The kinds of api/operators/v1alpha1.
#pragma once

#include "controllers/scope/kind.h"

namespace mandate {

namespace operatorsv1alpha1 = ::mandate::operators::v1alpha1;

}  // namespace mandate
