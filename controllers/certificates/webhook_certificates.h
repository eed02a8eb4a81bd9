// The markers of the component webhook-certificates, which keeps the certificates of the manager's
// own webhooks. Another program writes them with its own names (docs/webhooks.md).
//
// +mandate:component:name=webhook-certificates,value=webhooks.enabled,unless=webhooks.certificateSecret,events=none
// +mandate:justify:reason="The Secret holds the certificates that this component makes."
// +mandate:rbac:groups=core,resources=secrets,resourceNames=mandate-manager-webhook-certificate,verbs=list;watch;update,namespace=$(NAMESPACE),fieldSelector=metadata.name
// +mandate:fence:groups=core,resources=secrets,verbs=update,fields=data
// +mandate:justify:reason="API servers verify the webhooks by the caBundle that this component writes."
// +mandate:rbac:groups=admissionregistration.k8s.io,resources=validatingwebhookconfigurations,resourceNames=mandate-manager-scope-webhook-validating,verbs=list;watch;update,fieldSelector=metadata.name
// +mandate:fence:groups=admissionregistration.k8s.io,resources=validatingwebhookconfigurations,verbs=update,fields=webhooks[*].clientConfig.caBundle
#pragma once

#include "controllers/certificates/mandates.h"
