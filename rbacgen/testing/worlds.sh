# Sources, manifests and a fake kubectl: the inputs of the tests of can-i, who-can, diff and blast-radius. Source this
# # file after expect.sh.
cd "$dir"

mkdir -p old new
cat >old/a.go <<'END'
// +mandate:component:name=a
// +kubebuilder:rbac:groups=apps,resources=deployments,verbs=get;list
// +mandate:rbac:justify="TLS",groups=core,resources=secrets,resourceNames=cert,verbs=get,namespace=shop
// +mandate:rbac:granted=external,groups=core,resources=pods,verbs=get
END
sed 's/get;list/get;create/' old/a.go >new/a.go
"$rbacgen" chart --format=yaml old >chart.yaml
cat >kubectl <<END
#!/bin/sh
[ "\$1" = --kubeconfig=config ] || exit 1
case \$2 in
  get) cat $dir/chart.yaml ;;
  api-resources) echo 'gadgets   gd,gdg   g.io/v1   true   Gadget' ;;
esac
END
chmod +x kubectl
cluster=(--kubectl ./kubectl --kubeconfig config)

# The input does not have the role of these bindings, so the answer must never be "no subject", "no" or "no difference".
cat >bound.yaml <<'END'
{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRoleBinding, metadata: {name: g}, roleRef: {kind: ClusterRole, name: viewer}, subjects: [{kind: User, name: ann}]}
---
{apiVersion: rbac.authorization.k8s.io/v1, kind: RoleBinding, metadata: {name: h, namespace: shop}, roleRef: {kind: Role, name: gone}, subjects: [{kind: User, name: bob}]}
END
cat >unbound.yaml <<'END'
{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRoleBinding, metadata: {name: none}, roleRef: {kind: ClusterRole, name: view}, subjects: []}
END
sed 's/name: viewer/name: cluster-admin/' bound.yaml | head -1 >admin.yaml
