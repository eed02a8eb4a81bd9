// A component's typed access to objects. A call that its mandate does not declare does not compile.
//
//   ASSIGN_OR_RETURN(auto client, Client<kScopeInstance>::Create(rest));
//   ASSIGN_OR_RETURN(rbacv1::RoleBinding binding, client.Get<rbacv1::RoleBinding>(context, key));
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "manager/client/call_record.h"
#include "manager/client/collection_deletion.h"
#include "manager/client/ensure.h"
#include "manager/client/list_page.h"
#include "manager/client/live_watch.h"
#include "manager/client/object_client.h"
#include "manager/client/permission.h"
#include "manager/client/removal.h"
#include "manager/client/rest_client.h"
#include "manager/client/subresource_calls.h"
#include "manager/client/write_options.h"
#include "manager/core/call_context.h"
#include "manager/core/status_macros.h"
#include "manager/core/strings.h"
#include "manager/object/kind.h"
#include "manager/rbac/mandate.h"

namespace mandate {

template <class T>
struct ObjectList {
  std::vector<T> items;
  std::string resource_version;  // of the list, to watch from
};

// A cheap value over a RestClient, which outlives it. Blocks the calling thread: not on the loop.
// Thread-safe. Errors: RestClient's, with the server's metav1.Status (object/api_error.h).
template <const rbac::Mandate& kMandate>
class Client : public SubresourceCalls<kMandate> {
  template <class T, FixedString kVerb, FixedString kSubresource = "",
            class Result = absl::StatusOr<T>>
  using Declared = IfDeclared<kMandate, T, kVerb, kSubresource, Result>;

 public:
  // kInvalidArgument when `rest` belongs to another component.
  static absl::StatusOr<Client> Create(RestClient& rest) {
    if (rest.component() == kMandate.component) return Client(rest);
    return absl::InvalidArgumentError(StrCat("the client of component ", kMandate.component,
                                             " cannot send as ", rest.component()));
  }

  template <Object T>
  Declared<T, "get"> Get(const CallContext& context, const ObjectKey& key) {
    RecordCall<kMandate, T, "get">();
    T object;
    return Result(objects_.Get(context, KindOf<T>::value, key, object), object);
  }

  template <Object T>
  Declared<T, "list", "", absl::StatusOr<ObjectList<T>>> List(const CallContext& context,
                                                              const ListOptions& options = {}) {
    RecordCall<kMandate, T, "list">();
    ObjectList<T> list;
    absl::StatusOr<std::string> version = objects_.List(
        context, KindOf<T>::value, options, [&list] { list.items.clear(); },
        [&list](const std::shared_ptr<const RawObject>& raw) {
          absl::StatusOr<T> object = raw->Decode<T>();
          if (object.ok()) list.items.push_back(*std::move(object));
          return object.status();
        });
    if (!version.ok()) return std::move(version).status();
    list.resource_version = *std::move(version);
    return list;
  }

  // Calls `fn` with one object after the other, for kinds with too many objects for one List. Holds
  // one page in memory. Returns the list's resourceVersion. An error of `fn` ends it and is its
  // result. If it takes longer than the API server keeps the pages, it begins again or ends with a
  // 410: see ForEachOptions (list_page.h).
  template <Object T>
  Declared<T, "list", "", absl::StatusOr<std::string>> ForEach(
      const CallContext& context, const ForEachOptions& options,
      const std::function<absl::Status(T)>& fn) {
    RecordCall<kMandate, T, "list">();
    return ForEachObject(context, objects_.rest(), KindOf<T>::value, options,
                         [&fn](const std::shared_ptr<const RawObject>& raw) {
                           absl::StatusOr<T> object = raw->template Decode<T>();
                           return object.ok() ? fn(*std::move(object)) : object.status();
                         });
  }

  // Calls `fn` with one change after the other, from one open watch, until the server ends it or
  // `context` ends: see live_watch.h. Use the cache for watches that last.
  template <Object T>
  Declared<T, "watch", "", absl::Status> Watch(
      const CallContext& context, const LiveWatchOptions& options,
      const std::function<absl::Status(const LiveEvent<T>&)>& fn) {
    RecordCall<kMandate, T, "watch">();
    return ReadLiveWatch(context, objects_.rest(), KindOf<T>::value, options,
                         [&fn](const WatchEvent& event) -> absl::Status {
                           LiveEvent<T> live = {.type = event.type,
                                                .resource_version = event.resource_version};
                           if (event.object != nullptr) {
                             ASSIGN_OR_RETURN(live.object, event.object->template Decode<T>());
                           }
                           return fn(live);
                         });
  }

  template <Object T>
  Declared<T, "create"> Create(const CallContext& context, T object,
                               const WriteOptions& options = {}) {
    RecordCall<kMandate, T, "create">();
    return Result(objects_.Create(context, KindOf<T>::value, KeyOf(object), object, options),
                  object);
  }

  // The writes take options (write_options.h): client.Create(context, object, {.dry_run = true}).
  //
  // The object must have been read from the server: its resourceVersion is the precondition.
  template <KeepsUnknownFields T>
  Declared<T, "update"> Update(const CallContext& context, T object,
                               const WriteOptions& options = {}) {
    RecordCall<kMandate, T, "update">();
    return UpdateAt(context, "", std::move(object), options);
  }
  template <KeepsUnknownFields T>
  Declared<T, "update", "status"> UpdateStatus(const CallContext& context, T object,
                                               const WriteOptions& options = {}) {
    RecordCall<kMandate, T, "update", "status">();
    return UpdateAt(context, "status", std::move(object), options);
  }

  // object_patch.h makes patches, with a condition or without.
  template <Object T>
  Declared<T, "patch"> Patch(const CallContext& context, const ObjectKey& key,
                             const mandate::Patch& patch, const WriteOptions& options = {}) {
    RecordCall<kMandate, T, "patch">();
    return PatchAt<T>(context, key, "", patch, options);
  }
  template <Object T>
  Declared<T, "patch", "status"> PatchStatus(const CallContext& context, const ObjectKey& key,
                                             const mandate::Patch& patch,
                                             const WriteOptions& options = {}) {
    RecordCall<kMandate, T, "patch", "status">();
    return PatchAt<T>(context, key, "status", patch, options);
  }

  // Makes the object on the server have the fields of `desired`, and removes those that this
  // component's earlier calls of Ensure wrote and `desired` does not have, even if others changed
  // the object meanwhile. Fields that others own stay (see RemoveFields). Returns the object as it
  // is on the server: compare it with the plan.
  //
  // `desired` is built from nothing: never from an object that was read. `observed` is the object
  // as last read, with its managedFields, or null if the object is absent:
  //   - null: Ensure creates the object. kAlreadyExists when the name is taken, even if only for a
  //     moment: an object that was not observed is never changed. Decide first whether it is yours,
  //     then pass it.
  //   - an object: Ensure changes it, unless it is as desired (as_desired.h): then nothing is sent,
  //     and the result is `observed`. A Conflict (kAborted) when it was deleted meanwhile: it is
  //     not created again, and another object of that name is not changed.
  //
  // Ensure takes over fields that this component once wrote by Create, Update or Patch, in one more
  // request; a Conflict if the object changes at that moment. Finalizers and labels that the
  // component patches onto the object are such fields: `desired` must have them, too.
  // Does not change the status (ApplyStatus does).
  template <Object T>
  Declared<T, "patch", "", Declared<T, "create">> Ensure(const CallContext& context, T desired,
                                                         const std::type_identity_t<T>* observed) {
    RecordCall<kMandate, T, "patch">();
    RecordCall<kMandate, T, "create">();
    return Result(EnsureObject(objects_, context, KindOf<T>::value, observed, desired), desired);
  }

  // Removes fields that others added to our object and that it must not have, if the object has not
  // changed since it was observed (otherwise a Conflict). If it has no such fields, nothing is sent
  // and the result is `observed`.
  template <Object T>
  Declared<T, "patch"> RemoveFields(const CallContext& context, T observed,
                                    const FieldsToRemove& removal) {
    RecordCall<kMandate, T, "patch">();
    ASSIGN_OR_RETURN(const std::optional<MergePatch> patch, RemovalPatch(observed, removal));
    if (!patch.has_value()) return observed;
    return PatchAt<T>(context, KeyOf(observed), "", *patch, {});
  }

  // Server-side apply (KEP-555); Ensure is safer for whole objects. Creates the object if it does
  // not exist, which the server authorizes as create. `object` is built from nothing: never from
  // one that was read (object/apply.h).
  template <Object T>
  Declared<T, "patch", "", Declared<T, "create">> Apply(const CallContext& context, T object,
                                                        const ApplyOptions& options = {}) {
    RecordCall<kMandate, T, "patch">();
    RecordCall<kMandate, T, "create">();
    return ApplyAt(context, "", std::move(object), options);
  }
  template <Object T>
  Declared<T, "patch", "status"> ApplyStatus(const CallContext& context, T object,
                                             const ApplyOptions& options = {}) {
    RecordCall<kMandate, T, "patch", "status">();
    return ApplyAt(context, "status", std::move(object), options);
  }

  // OK does not mean that the object is gone: see DeleteResult.
  template <Object T>
  Declared<T, "delete", "", absl::StatusOr<DeleteResult>> Delete(
      const CallContext& context, const ObjectKey& key, const DeleteOptions& options = {}) {
    RecordCall<kMandate, T, "delete">();
    return objects_.Delete(context, KindOf<T>::value, key, options);
  }

  // Deletes all objects that the options select (verb deletecollection), and returns their number:
  // see collection_deletion.h. Some may remain, as after Delete. A cached read right after it may
  // still return them: unlike other writes, it is not noted in own_writes().
  template <Object T>
  Declared<T, "deletecollection", "", absl::StatusOr<size_t>> DeleteAllOf(
      const CallContext& context, const DeleteAllOfOptions& options) {
    RecordCall<kMandate, T, "deletecollection">();
    return DeleteCollection(context, objects_.rest(), KindOf<T>::value, options);
  }

 private:
  explicit Client(RestClient& rest) : SubresourceCalls<kMandate>(rest), objects_(rest) {}

  template <class T>
  static absl::StatusOr<T> Result(absl::Status status, T& object) {
    if (!status.ok()) return status;
    return std::move(object);
  }
  template <class T>
  absl::StatusOr<T> UpdateAt(const CallContext& context, std::string_view subresource, T object,
                             const WriteOptions& options) {
    const std::string version = object.metadata().resourceversion();
    return Result(objects_.Update(context, KindOf<T>::value, KeyOf(object), version, subresource,
                                  object, options),
                  object);
  }
  template <class T>
  absl::StatusOr<T> PatchAt(const CallContext& context, const ObjectKey& key,
                            std::string_view subresource, const mandate::Patch& patch,
                            const WriteOptions& options) {
    T object;
    return Result(
        objects_.PatchObject(context, KindOf<T>::value, key, subresource, patch, object, options),
        object);
  }
  template <class T>
  absl::StatusOr<T> ApplyAt(const CallContext& context, std::string_view subresource, T object,
                            const ApplyOptions& options) {
    return Result(
        objects_.Apply(context, KindOf<T>::value, KeyOf(object), subresource, options, object),
        object);
  }

  ObjectClient objects_;
};

}  // namespace mandate
