// Package webhooks declares webhooks in every way that a marker knows.
package webhooks

// A path, and everything else that a service may say.
// +kubebuilder:webhook:path=/mutate-apps-v1-deployment,mutating=true,failurePolicy=ignore,matchPolicy=exact,sideEffects=NoneOnDryRun,timeoutSeconds=7,groups=apps;core;batch,resources=deployments;deployments/scale,verbs=create;Update;DELETE;connect,versions=v1;v1beta1,name=z.mutate.example.com,serviceName=hooks,serviceNamespace=hook-system,servicePort=8443,webhookVersions=v1,admissionReviewVersions={v1,v1beta1},reinvocationPolicy=ifneeded

// As little as may be said.
// +kubebuilder:webhook:path=/validate-v1-pod,mutating=false,failurePolicy=fail,sideEffects=None,groups="",resources=pods,verbs=*,versions=*,name=pod.validate.example.com,admissionReviewVersions=v1

// An address outside of the cluster.
// +kubebuilder:webhook:url="https://hooks.example.com:8443/a-path",mutating=false,failurePolicy=Fail,matchPolicy=Equivalent,sideEffects=none,groups=*,resources=*,verbs=delete,versions=v1,name=a.validate.example.com,admissionReviewVersions=v1;v1beta1

// What a patch may do.
// +kubebuilder:webhook:path=/mutate-v1-secret,mutating=true,failurePolicy=fail,sideEffects=None,timeoutSeconds=3,groups=core,resources=secrets,verbs=create,versions=v1,name=secret.mutate.example.com,admissionReviewVersions=v1,reinvocationPolicy=Never,patch=`{"timeoutSeconds":null,"failurePolicy":"Ignore","namespaceSelector":{"matchLabels":{"hooks":"yes"}},"objectSelector":{"matchExpressions":[{"key":"tier","operator":"In","values":["a","b"]},{"key":"off","operator":"DoesNotExist"}]},"matchConditions":[{"name":"not-ours","expression":"request.userInfo.username != 'system:admin'"}],"clientConfig":{"service":{"port":9443}},"rules":[{"operations":["CREATE","UPDATE"],"apiGroups":[""],"apiVersions":["v1"],"resources":["secrets"],"scope":"Namespaced"}]}`

// +kubebuilder:webhookconfiguration:mutating=true,name=example-mutating
// +kubebuilder:webhookconfiguration:mutating=false

// Handler is what they call.
type Handler struct{}
