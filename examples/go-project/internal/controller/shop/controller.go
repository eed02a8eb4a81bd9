// Package shop reconciles Shops.
package shop

import "context"

// Controller keeps a Deployment for each Shop.
type Controller struct{}

// +kubebuilder:rbac:groups=example.com,resources=shops,verbs=get;list;watch
// +kubebuilder:rbac:groups=example.com,resources=shops/status,verbs=patch
// +mandate:justify:reason="a Shop is a Deployment in its own namespace"
// +kubebuilder:rbac:groups=apps,resources=deployments,verbs=get;list;watch;create;patch

// Reconcile brings the Deployment of one Shop to its desired state.
func (c *Controller) Reconcile(ctx context.Context, name string) error {
	return ctx.Err()
}
