// A record of credentials: which user requested each token, which addresses used it, and which uses
// indicate a stolen token. Memory is bounded.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "rbacgen/audit/addresses.h"
#include "rbacgen/audit/event.h"

namespace mandate::rbacgen {

// A credential id that a component used, joined to the request that made its token.
struct TokenOrigin {
  std::string credential_id;
  std::string component;
  bool joined = false;
  std::string issued_to;  // namespace/name of the ServiceAccount
  std::string issued_by;  // username
  std::string when;
};

// Not thread-safe.
class TokenBook {
 public:
  struct Options {
    std::string ns = {}, base_name = {};
    size_t max_credentials = 10000;  // issued ones, and as many used ones
    size_t max_pods = 1000;          // the pods that used base's credential
    // Addresses that one process may use in turn, such as those of a gateway.
    std::vector<AddressRange> addresses = {};
    // How long an old token may be used after its successor's first use.
    absl::Duration overlap = absl::Seconds(60);
  };
  // Takes the kind and the text of a finding.
  using Find = std::function<void(const char* kind, std::string text)>;

  explicit TokenBook(Options options) : options_(std::move(options)) {}

  // Records a request that issued a token for a component.
  void NoteIssued(const AuditEvent& event);
  // Records a use of the credential, by a component or another user. False if the book is full.
  bool NoteUse(const AuditEvent& event, const std::string& id, const std::string& component);
  // Records a request that carried base's credential.
  void NoteBase(const AuditEvent& event);

  // The components' tokens, sorted by component, time and id.
  std::vector<TokenOrigin> Tokens() const;
  void Check(const Find& find) const;

  std::set<std::string> IssuedTo() const;  // the ServiceAccounts for which base made tokens
  int64_t unused() const;  // the number of tokens that base made and no request used
  bool issued_left_out() const { return issued_left_out_; }
  bool used_left_out() const { return used_left_out_; }

 private:
  // An address and its first request.
  struct Place {
    std::string address, when, audit_id;
    std::string last;  // the time of the last request
    std::string ToString() const;
  };
  struct Issued {
    std::string to, by, when;
    std::string address;
    std::string process;  // the pod that requested it; without a pod, base's credential id
  };
  struct Used {
    std::string component;
    std::string first, last;
    std::string pod;  // the pod to which the token is bound
    std::vector<Place> places;
  };
  struct Holder {
    std::string pod_name;
    std::string first, last;
    bool leads = false;  // it requested the Lease
    bool mints = false;  // requested tokens
    int64_t requests = 0;
    std::vector<Place> places;
  };

  bool IsBase(const std::string& username) const;
  static void AddPlace(const AuditEvent& event, std::vector<Place>* places);
  bool IsElsewhere(const std::string& a, const std::string& b) const;
  void JudgeOrigin(const std::string& id, const Used& used, const Find& find) const;
  void JudgePlaces(const std::string& id, const Used& used, const Find& find) const;
  void JudgeOverlaps(const Find& find) const;
  void JudgeHolders(const Find& find) const;

  const Options options_;
  std::map<std::string, Issued> issued_;   // by credential id
  std::map<std::string, Used> used_;       // by credential id
  std::map<std::string, Holder> holders_;  // by the pod's UID; "" without a pod
  bool issued_left_out_ = false;
  bool used_left_out_ = false;
};

}  // namespace mandate::rbacgen
