// Package identity gives each controller of a Go manager an identity of its own, with nothing but client-go.
package identity

import (
	"context"
	"fmt"
	"runtime"
	"runtime/debug"
	"time"

	"golang.org/x/oauth2"
	authenticationv1 "k8s.io/api/authentication/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/transport"
)

const (
	tokenSeconds   int64 = 3600
	requestTimeout       = 30 * time.Second
)

// ConfigFor returns a configuration of one component's own: its requests carry the tokens of the ServiceAccount
// MANAGER-COMPONENT, and its name in their user agent. base is the manager's own, which may create tokens of exactly
// these ServiceAccounts; nothing of its credentials is in what is returned.
func ConfigFor(base *rest.Config, namespace, manager, component string) (*rest.Config, error) {
	minter, err := kubernetes.NewForConfig(base)
	if err != nil {
		return nil, err
	}
	config := rest.AnonymousClientConfig(base)
	config.UserAgent = fmt.Sprintf("%s/%s (%s/%s) %s", manager, version(), runtime.GOOS, runtime.GOARCH, component)
	source := transport.NewCachedTokenSource(&tokenSource{minter, namespace, manager + "-" + component})
	config.Wrap(transport.ResettableTokenSourceWrapTransport(source))
	return config, nil
}

func version() string {
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" {
		return info.Main.Version
	}
	return "unknown"
}

// tokenSource asks for a token each time; the cache around it does so when the last one is about to end.
type tokenSource struct {
	minter    kubernetes.Interface
	namespace string
	account   string
}

func (s *tokenSource) Token() (*oauth2.Token, error) {
	ctx, cancel := context.WithTimeout(context.Background(), requestTimeout)
	defer cancel()
	seconds := tokenSeconds
	asked := time.Now()
	answer, err := s.minter.CoreV1().ServiceAccounts(s.namespace).CreateToken(ctx, s.account,
		&authenticationv1.TokenRequest{Spec: authenticationv1.TokenRequestSpec{ExpirationSeconds: &seconds}},
		metav1.CreateOptions{})
	if err != nil {
		return nil, fmt.Errorf("no token of %s/%s: %w", s.namespace, s.account, err)
	}
	// What the server granted, by this machine's clock, and a fifth of it to spare.
	life := time.Duration(*answer.Spec.ExpirationSeconds) * time.Second
	return &oauth2.Token{AccessToken: answer.Status.Token, Expiry: asked.Add(life * 4 / 5)}, nil
}
