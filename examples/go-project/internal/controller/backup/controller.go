// Package backup reconciles Backups.
package backup

import "context"

// Controller creates a Job for each Backup.
type Controller struct{}

// +kubebuilder:rbac:groups=example.com,resources=backups,verbs=get;list;watch
// +kubebuilder:rbac:groups=example.com,resources=backups/status,verbs=patch
// +mandate:justify:reason="a Backup runs as a Job in its own namespace"
// +kubebuilder:rbac:groups=batch,resources=jobs,verbs=get;list;watch;create

// Reconcile creates the Job of one Backup if it is missing.
func (c *Controller) Reconcile(ctx context.Context, name string) error {
	return ctx.Err()
}
