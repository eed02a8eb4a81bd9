// A request of an administrator to the double.
#ifndef TESTING_APISERVER_ADMIN_REQUEST_H_
#define TESTING_APISERVER_ADMIN_REQUEST_H_

#include <string>

#include "manager/transport/transport.h"

namespace mandate::apiserver {

// Has kAdminToken and the user agent of kubectl, and `content_type` if the body is not empty.
HttpRequest AdminRequest(std::string method, std::string target, std::string body = "",
                         std::string content_type = "application/json");

}  // namespace mandate::apiserver

#endif  // TESTING_APISERVER_ADMIN_REQUEST_H_
