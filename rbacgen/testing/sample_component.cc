// A source file with two components, for tests of rbacgen's outputs.
//
// +mandate:component:name=sample-reader
// +kubebuilder:rbac:groups=apps,resources=deployments,verbs=get;list;watch
// +kubebuilder:rbac:groups=apps,resources=deployments/status,verbs=patch
// +kubebuilder:rbac:groups="",resources=configmaps,resourceNames=settings,verbs=get,namespace=kube-system
//
// +mandate:component:name=sample-granter
// +mandate:rbac:justify="It binds the roles that an owner names, and checks that it owns them; the
// reason may run over several
// lines.",groups=rbac.authorization.k8s.io,resources=clusterroles,verbs=bind
// +mandate:justify:reason="It runs what an owner asks for."
// +mandate:rbac:granted=external,groups=batch,resources=jobs,verbs=get;create
// +kubebuilder:rbac:urls=/version,verbs=get
