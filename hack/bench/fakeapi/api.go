package main

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"
)

// Larger bodies are compressed for who accepts that, as the API server does.
const gzipFrom = 128 << 10

type api struct {
	world  *world
	counts counts

	mu   sync.Mutex
	full map[string][]byte // whole lists, by content type and encoding
}

func (a *api) mux() http.Handler {
	m := http.NewServeMux()
	if a.world.kind == "Pod" {
		m.HandleFunc("/api/v1/pods", a.objects)
	} else {
		m.HandleFunc("/api/v1/configmaps", a.objects)
		m.HandleFunc("/api/v1/namespaces/bench/configmaps", a.objects)
	}
	m.HandleFunc("POST /api/v1/namespaces/{ns}/serviceaccounts/{name}/token", a.token)
	m.HandleFunc("POST /apis/authorization.k8s.io/v1/selfsubjectaccessreviews", a.accessReview)
	m.HandleFunc("POST /apis/authorization.k8s.io/v1/selfsubjectrulesreviews", a.rulesReview)
	m.HandleFunc("POST /apis/authentication.k8s.io/v1/selfsubjectreviews", func(w http.ResponseWriter, _ *http.Request) {
		answer(w, http.StatusCreated, `{"kind":"SelfSubjectReview","apiVersion":"authentication.k8s.io/v1","status":{"userInfo":{"username":"bench"}}}`)
	})
	text := func(body string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) { answer(w, http.StatusOK, body) }
	}
	m.HandleFunc("/version", text(`{"major":"1","minor":"36","gitVersion":"v1.36.3"}`))
	m.HandleFunc("/livez", text("ok"))
	m.HandleFunc("/api", text(`{"kind":"APIVersions","versions":["v1"],"serverAddressByClientCIDRs":[]}`))
	m.HandleFunc("/apis", text(`{"kind":"APIGroupList","apiVersion":"v1","groups":[]}`))
	m.HandleFunc("/api/v1", text(`{"kind":"APIResourceList","groupVersion":"v1","resources":[{"name":"configmaps","singularName":"configmap","namespaced":true,"kind":"ConfigMap","verbs":["get","list","watch"]},{"name":"pods","singularName":"pod","namespaced":true,"kind":"Pod","verbs":["get","list","watch"]}]}`))
	m.HandleFunc("/bench/burst", func(w http.ResponseWriter, r *http.Request) {
		a.world.burst(number(r, "n"), number(r, "rate"))
		answer(w, http.StatusOK, "{}")
	})
	m.HandleFunc("/bench/stats", a.stats)
	m.HandleFunc("/bench/reset", func(w http.ResponseWriter, _ *http.Request) {
		c := &a.counts
		for _, n := range []interface{ Store(int64) }{&c.connections, &c.lists, &c.watches, &c.reviews, &c.bytes} {
			n.Store(0)
		}
		answer(w, http.StatusOK, "{}")
	})
	m.HandleFunc("/", func(w http.ResponseWriter, _ *http.Request) {
		answer(w, http.StatusNotFound, `{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"NotFound","code":404}`)
	})
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		// A body that is left unread is answered with a reset of its stream, which API servers do not do.
		_, _ = io.Copy(io.Discard, r.Body)
		m.ServeHTTP(w, r)
	})
}

func answer(w http.ResponseWriter, code int, body string) {
	w.Header().Set("Content-Type", jsonType)
	w.WriteHeader(code)
	_, _ = w.Write([]byte(body))
}

func number(r *http.Request, key string) int {
	n, _ := strconv.Atoi(r.URL.Query().Get(key))
	return n
}

func (a *api) stats(w http.ResponseWriter, _ *http.Request) {
	c := &a.counts
	a.world.mu.Lock()
	open := len(a.world.watchers)
	a.world.mu.Unlock()
	out, _ := json.Marshal(map[string]int64{
		"connections": c.connections.Load(), "lists": c.lists.Load(), "watches": c.watches.Load(),
		"reviews": c.reviews.Load(), "bytes": c.bytes.Load(), "open": int64(open),
		"object bytes": a.world.objectBytes(),
	})
	answer(w, http.StatusOK, string(out))
}

// objects is list and watch; selectors are not known here.
func (a *api) objects(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	asJSON := !strings.Contains(r.Header.Get("Accept"), pbType)
	if asJSON && a.world.kind == "Pod" {
		answer(w, http.StatusNotAcceptable, `{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"NotAcceptable","code":406}`)
		return
	}
	if watch, _ := strconv.ParseBool(q.Get("watch")); watch {
		a.watch(w, r, asJSON)
		return
	}
	a.counts.lists.Add(1)
	e, contentType := &a.world.pb, pbType
	if asJSON {
		e, contentType = &a.world.json, jsonType
	}
	zip := strings.Contains(r.Header.Get("Accept-Encoding"), "gzip")
	from, to := 0, a.world.n
	if token := q.Get("continue"); token != "" {
		from, _ = strconv.Atoi(token)
	}
	// The watch cache answers version 0 without pages.
	if limit := number(r, "limit"); limit > 0 && q.Get("resourceVersion") != "0" {
		to = min(to, from+limit)
	}
	var body []byte
	if from == 0 && to == a.world.n {
		body = a.whole(e, asJSON, zip)
	} else if body = a.world.page(e, asJSON, from, to); zip && len(body) >= gzipFrom {
		body = compress(body)
	} else {
		zip = false
	}
	a.counts.bytes.Add(int64(len(body)))
	w.Header().Set("Content-Type", contentType)
	if zip && len(body) > 0 {
		w.Header().Set("Content-Encoding", "gzip")
	}
	w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	_, _ = w.Write(body)
}

func (a *api) whole(e *encoded, asJSON, zip bool) []byte {
	key := fmt.Sprint(asJSON, zip)
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.full == nil {
		a.full = map[string][]byte{}
	}
	if a.full[key] == nil {
		body := a.world.page(e, asJSON, 0, a.world.n)
		if zip {
			body = compress(body)
		}
		a.full[key] = body
	}
	return a.full[key]
}

func compress(body []byte) []byte {
	var out bytes.Buffer
	z, _ := gzip.NewWriterLevel(&out, 1)
	_, _ = z.Write(body)
	_ = z.Close()
	return out.Bytes()
}

func (a *api) watch(w http.ResponseWriter, r *http.Request, asJSON bool) {
	a.counts.watches.Add(1)
	ctx := r.Context()
	if seconds := number(r, "timeoutSeconds"); seconds > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, time.Duration(seconds)*time.Second)
		defer cancel()
	}
	contentType := pbType + ";stream=watch"
	if asJSON {
		contentType = jsonType
	}
	w.Header().Set("Content-Type", contentType)
	w.WriteHeader(http.StatusOK)
	w.(http.Flusher).Flush()
	a.world.mu.Lock()
	from := a.world.published
	a.world.mu.Unlock()
	watcher := &watcher{world: a.world, asJSON: asJSON, out: w, done: ctx, counts: &a.counts}
	if r.URL.Query().Get("sendInitialEvents") == "true" {
		if watcher.initial(from) != nil {
			return
		}
	} else if version := number(r, "resourceVersion"); version > 0 {
		from = max(0, version-firstVersion-a.world.n)
	}
	watcher.run(from)
}

// What a component asks for before it may act; everything is granted to components, whose tokens are those of token().
func (a *api) token(w http.ResponseWriter, r *http.Request) {
	until := time.Now().Add(time.Hour).UTC().Format(time.RFC3339)
	answer(w, http.StatusCreated, fmt.Sprintf(`{"kind":"TokenRequest","apiVersion":"authentication.k8s.io/v1",`+
		`"metadata":{"name":%q,"namespace":%q},"spec":{"audiences":["bench"],"expirationSeconds":3600},`+
		`"status":{"token":"bench-%s","expirationTimestamp":%q}}`,
		r.PathValue("name"), r.PathValue("ns"), r.PathValue("name"), until))
}

// The kubeconfig's own token must not be an administrator's: managers then do not start.
func (a *api) accessReview(w http.ResponseWriter, r *http.Request) {
	a.counts.reviews.Add(1)
	allowed := r.Header.Get("Authorization") != "Bearer bench"
	answer(w, http.StatusCreated, fmt.Sprintf(`{"kind":"SelfSubjectAccessReview","apiVersion":"authorization.k8s.io/v1",`+
		`"spec":{},"status":{"allowed":%t}}`, allowed))
}

func (a *api) rulesReview(w http.ResponseWriter, _ *http.Request) {
	a.counts.reviews.Add(1)
	answer(w, http.StatusCreated, `{"kind":"SelfSubjectRulesReview","apiVersion":"authorization.k8s.io/v1","spec":{},"status":{"resourceRules":[{"verbs":["*"],"apiGroups":["*"],"resources":["*"]}],"nonResourceRules":[],"incomplete":false}}`)
}
