// An answer of the double as a transport hands it over.
#ifndef TESTING_APISERVER_HTTP_HEAD_H_
#define TESTING_APISERVER_HTTP_HEAD_H_

#include "manager/transport/transport.h"
#include "testing/apiserver/request.h"

namespace mandate::apiserver {

// All but the body.
HttpResponse ToHead(const Response& response);

}  // namespace mandate::apiserver

#endif  // TESTING_APISERVER_HTTP_HEAD_H_
