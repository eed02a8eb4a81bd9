// A request of an administrator to the double.
#pragma once

#include <string>

#include "manager/transport/transport.h"

namespace mandate::apiserver {

// Has kAdminToken and the user agent of kubectl, and `content_type` if the body is not empty.
HttpRequest AdminRequest(std::string method, std::string target, std::string body = "",
                         std::string content_type = "application/json");

}  // namespace mandate::apiserver
