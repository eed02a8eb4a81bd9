// The labelSelector of a query, read as the API server does, and refused in its words
// (apimachinery, pkg/labels).
#ifndef TESTING_APISERVER_LABEL_QUERY_H_
#define TESTING_APISERVER_LABEL_QUERY_H_

#include <string_view>

#include "absl/status/statusor.h"
#include "manager/object/selector.h"

namespace mandate::apiserver {

// 400 for what is no selector.
absl::StatusOr<LabelSelector> ParseLabelQuery(std::string_view text);

}  // namespace mandate::apiserver

#endif  // TESTING_APISERVER_LABEL_QUERY_H_
