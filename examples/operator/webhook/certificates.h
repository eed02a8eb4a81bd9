// The permissions of the component webhook-certificates, which makes the certificates of the
// operator's webhooks.
//
// +mandate:component:name=webhook-certificates,value=webhooks.enabled,unless=webhooks.certificateSecret,events=none
// +mandate:justify:reason="The Secret holds the certificates that this component makes."
// +mandate:rbac:groups=core,resources=secrets,resourceNames=greeting-operator-webhook-certificate,verbs=list;watch;update,namespace=$(NAMESPACE),fieldSelector=metadata.name
// +mandate:fence:groups=core,resources=secrets,verbs=update,fields=data
// +mandate:justify:reason="API servers verify the webhooks by the caBundle that this component writes."
// +mandate:rbac:groups=admissionregistration.k8s.io,resources=validatingwebhookconfigurations,resourceNames=greeting-operator-greeting-webhook-validating,verbs=list;watch;update,fieldSelector=metadata.name
// +mandate:fence:groups=admissionregistration.k8s.io,resources=validatingwebhookconfigurations,verbs=update,fields=webhooks[*].clientConfig.caBundle
#pragma once

#include "webhook/mandates.h"
