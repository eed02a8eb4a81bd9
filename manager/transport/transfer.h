// One request on one connection: a libcurl easy handle.
#pragma once

#include <curl/curl.h>

#include <array>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "manager/transport/active_request.h"
#include "manager/transport/curl_handles.h"
#include "manager/transport/http_options.h"
#include "manager/transport/response_head.h"

namespace mandate {

// Loop thread only.
class Transfer {
 public:
  // The connection's owner. Its functions are called inside libcurl: do not touch any handle.
  class Observer {
   public:
    virtual ~Observer() = default;
    // The request goes out now.
    virtual void OnSent(const Transfer& transfer) = 0;
    // Something came from the server.
    virtual void OnReceived() = 0;
    // A head came, over HTTP/2 or not.
    virtual void OnHeaders(bool multiplexed) = 0;
    // Whether libcurl may open a socket; then what happened to it. It is closed after its last use.
    virtual bool MayOpenSocket() = 0;
    virtual void OnSocketOpened(curl_socket_t socket) = 0;
    virtual void OnSocketClosing(curl_socket_t socket) = 0;
  };

  // The observer outlives the transfer and the connection that it opens; options, the transfer.
  static absl::StatusOr<std::unique_ptr<Transfer>> Create(std::shared_ptr<ActiveRequest> active,
                                                          Observer& observer,
                                                          const HttpOptions& options,
                                                          absl::Time wall_now);

  CURL* easy() const { return easy_.get(); }
  const std::shared_ptr<ActiveRequest>& active() const { return active_; }

  // The request went out, at least in part.
  bool sent() const { return sent_; }
  // libcurl wanted another connection for the request.
  bool refused() const { return refused_; }
  // Takes the result; call it before unprocessed() and received(). If the server answered with an
  // error and libcurl dropped the response, the request gets a head that has the code only.
  void OnTransferDone(CURLcode code);
  // The server certainly did not act on the request.
  bool unprocessed() const { return !sent_ || unprocessed_; }
  // Part of the response came.
  bool received() const { return received_; }
  bool header_too_large() const { return header_too_large_; }

  // Translates libcurl's result.
  absl::Status StatusOf(CURLcode code) const;

 private:
  Transfer(std::shared_ptr<ActiveRequest> active, Observer& observer, const HttpOptions& options,
           absl::Time wall_now);
  // libcurl wants to send it again, or ended it without an error message.
  bool WasRefusedUnprocessed() const;
  // The code of the server's response, delivered or not; 0: no final code.
  int AnsweredCode() const;
  CURLcode SetUp();
  CURLcode SetUpResending();
  CURLcode SetUpRequest();
  void SetUpConnection();
  void SetUpCallbacks();

  static size_t OnHeaderLine(char* data, size_t size, size_t count, void* self);
  static size_t OnBody(char* data, size_t size, size_t count, void* self);
  static int OnBeforeRequest(void* self, char*, char*, int, int);
  static curl_socket_t OpenSocket(void* self, curlsocktype purpose, curl_sockaddr* address);
  static int CloseSocket(void* observer, curl_socket_t socket);
  static int SetSocketOptions(void* self, curl_socket_t socket, curlsocktype purpose);

  const std::shared_ptr<ActiveRequest> active_;
  Observer& observer_;
  const HttpOptions& options_;
  ResponseHeadParser parser_;
  std::array<char, CURL_ERROR_SIZE> error_ = {};
  CurlList headers_;
  CurlList connect_to_;
  CurlEasy easy_;  // after what it points into
  bool sent_ = false;
  bool refused_ = false;
  bool unprocessed_ = false;
  bool received_ = false;
  int lost_code_ = 0;  // of a response that libcurl did not deliver
  bool header_too_large_ = false;
};

}  // namespace mandate
