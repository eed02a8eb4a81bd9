// A response of the double in the form of the transport.
#ifndef TESTING_APISERVER_HTTP_HEAD_H_
#define TESTING_APISERVER_HTTP_HEAD_H_

#include "manager/transport/transport.h"
#include "testing/apiserver/request.h"

namespace mandate::apiserver {

// The response without its body.
HttpResponse ToHead(const Response& response);

}  // namespace mandate::apiserver

#endif  // TESTING_APISERVER_HTTP_HEAD_H_
