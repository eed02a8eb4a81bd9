// One DELETE on its way: of an object or, one after the other, of a collection.
#ifndef TESTING_APISERVER_DELETE_FLOW_H_
#define TESTING_APISERVER_DELETE_FLOW_H_

#include <jsoncpp/json/json.h>

#include <cstddef>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "testing/apiserver/core.h"
#include "testing/apiserver/exchange.h"
#include "testing/apiserver/object_io.h"

namespace mandate::apiserver {

// Keeps itself alive until it has answered. Loop thread only.
class DeleteFlow : public std::enable_shared_from_this<DeleteFlow> {
 public:
  // `core` outlives the exchange.
  static void Start(Core& core, std::shared_ptr<Exchange> exchange,
                    std::shared_ptr<const ResourceType> type, Encoding answer);

  DeleteFlow(Core& core, std::shared_ptr<Exchange> exchange,
             std::shared_ptr<const ResourceType> type, Encoding answer)
      : core_(core), exchange_(std::move(exchange)), type_(std::move(type)), answer_(answer) {}

 private:
  absl::Status Prepare();
  absl::Status ReadOptions();
  absl::Status ReadParameters();
  // Deletes the next object of targets_, or answers when there is none.
  void Next();
  void Delete(const std::shared_ptr<const StoredObject>& live);
  absl::Status CheckPreconditions(const StoredObject& live) const;
  void Finish(const std::string& ns, const std::string& name);
  // Marks an object that something still holds; null: nothing does.
  std::shared_ptr<const StoredObject> Mark(const StoredObject& live);
  void Fail(const absl::Status& status);
  void Answer();
  std::string Success(const StoredObject& object) const;

  std::shared_ptr<WriteAttributes> Attributes(const StoredObject& live) const;
  const Request& request() const { return exchange_->request(); }

  Core& core_;
  const std::shared_ptr<Exchange> exchange_;
  const std::shared_ptr<const ResourceType> type_;
  const Encoding answer_;
  bool collection_ = false;
  bool dry_run_ = false;
  Json::Value options_;    // DeleteOptions
  std::string finalizer_;  // which the propagation policy asks for; empty: none
  std::vector<std::pair<std::string, std::string>> targets_;
  size_t next_ = 0;
  ListMeta list_;                                             // of a collection
  std::vector<std::shared_ptr<const StoredObject>> deleted_;  // as they last were
  bool gone_ = false;                                         // the last of them is no longer there
};

}  // namespace mandate::apiserver

#endif  // TESTING_APISERVER_DELETE_FLOW_H_
