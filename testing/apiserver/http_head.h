// A response of the double in the form of the transport.
#pragma once

#include "manager/transport/transport.h"
#include "testing/apiserver/request.h"

namespace mandate::apiserver {

// The response without its body.
HttpResponse ToHead(const Response& response);

}  // namespace mandate::apiserver
