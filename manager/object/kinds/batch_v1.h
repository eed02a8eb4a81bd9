// The group batch. It has pods in it: as slow to compile as the core group.
#ifndef MANAGER_OBJECT_KINDS_BATCH_V1_H_
#define MANAGER_OBJECT_KINDS_BATCH_V1_H_

#include "k8s.io/api/batch/v1/generated.pb.h"
#include "manager/object/kind.h"

namespace mandate {

namespace batchv1 = ::k8s::io::api::batch::v1;

template <>
struct KindOf<batchv1::Job> {
  static constexpr KindInfo value = BuiltIn("batch", "Job", "jobs");
};

template <>
struct KindOf<batchv1::CronJob> {
  static constexpr KindInfo value = BuiltIn("batch", "CronJob", "cronjobs");
};

}  // namespace mandate

#endif  // MANAGER_OBJECT_KINDS_BATCH_V1_H_
