// A test fixture: portions of writes to a server that refuses some of them, in simulated time.
#pragma once

#include <gtest/gtest.h>

#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "controllers/portion.h"
#include "manager/core/testing/simulated_loop.h"

namespace mandate {

class PortionTest : public testing::Test {
 protected:
  using List = std::vector<std::string>;

  // Works on `list` in `portion`; the server refuses those in `refused_`.
  bool Work(Portion& portion, const List& list, FailedWrites WriteRound::*kind) {
    return portion.Each(
        list,
        [](const std::string& name) {
          return ObjectKey{"", name};
        },
        portion.round().*kind,
        [&](const std::string& name) {
          tried_.push_back(name);
          portion.NoteRequest();
          clock_.AdvanceTo(clock_.TimeNow() + took_);
          const bool taken = !refused_.contains(name);
          if (taken) portion.NoteSuccess();
          const auto refusal = refusals_.find(name);
          const absl::Status status = taken                        ? absl::OkStatus()
                                      : refusal != refusals_.end() ? refusal->second
                                                                   : absl::InternalError("no");
          if (kind == &WriteRound::removals) {
            portion.log().AddRemoval(name, name, status);
          } else {
            portion.log().Add(name, absl::StatusOr<int>(taken ? absl::StatusOr<int>(1) : status));
          }
        },
        [] {});
  }
  List Tried() { return std::exchange(tried_, {}); }
  // What another portion of the round tries.
  List Next(const List& list, FailedWrites WriteRound::*kind, WriteRound& round) {
    Portion portion(clock_, limits_, round);
    Work(portion, list, kind);
    return Tried();
  }

  SimulatedClock clock_;
  PortionLimits limits_{.max_writes = 2};
  absl::Duration took_ = absl::ZeroDuration();
  std::set<std::string> refused_;
  std::map<std::string, absl::Status> refusals_;  // other than the usual one
  List tried_;
};

}  // namespace mandate
