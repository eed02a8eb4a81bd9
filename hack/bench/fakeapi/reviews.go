package main

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"net/http"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
	"unsafe"
)

// Of kube-apiserver's client: idle connections of one webhook (k8s.io/client-go/transport/cache.go). There are never
// more here, so that a pause of the machine does not add handshakes to the measurement.
const connections = 25

// reviewer is kube-apiserver's client of one webhook, which uses HTTP/1.1 (k8s.io/apiserver/pkg/util/webhook/client.go).
type reviewer struct {
	url    string
	client *http.Client
	sent   atomic.Int64

	mu   sync.Mutex
	took []time.Duration
	errs []error
}

// reviews is the load of B13: it sends AdmissionReviews to the webhook of a process and reports what each cost.
func reviews(args []string) {
	f := flag.NewFlagSet("reviews", flag.ExitOnError)
	url := f.String("url", "", "of the webhook")
	ca := f.String("ca", "", "file with the authority of its certificate")
	pid := f.Int("pid", 0, "process that serves it, whose CPU time is measured")
	rate := f.Int("rate", 0, "reviews a second, whether answered or not; 0: as many as -in-flight allows")
	inFlight := f.Int("in-flight", 16, "reviews at once, without -rate")
	warmUp := f.Duration("warm-up", 2*time.Second, "the same load before the measurement")
	duration := f.Duration("duration", 10*time.Second, "of the measurement")
	check(f.Parse(args))

	authority, err := os.ReadFile(*ca)
	check(err)
	roots := x509.NewCertPool()
	if !roots.AppendCertsFromPEM(authority) {
		check(fmt.Errorf("%s has no certificate", *ca))
	}
	r := &reviewer{url: *url + "?timeout=10s", client: &http.Client{Transport: &http.Transport{
		TLSClientConfig:     &tls.Config{RootCAs: roots, NextProtos: []string{"http/1.1"}, MinVersion: tls.VersionTLS12},
		MaxIdleConnsPerHost: connections, MaxConnsPerHost: connections, IdleConnTimeout: 90 * time.Second, TLSHandshakeTimeout: 10 * time.Second,
	}}}
	r.await()
	r.run(*rate, *inFlight, *warmUp)
	r.took, r.errs = nil, nil
	before, start := cpuOf(*pid), time.Now()
	r.run(*rate, *inFlight, *duration)
	r.report(time.Since(start), cpuOf(*pid)-before)
	check(errors.Join(r.errs[:min(3, len(r.errs))]...))
}

// await returns once the server allows the review, and denies a similar one: it really checks the object.
func (r *reviewer) await() {
	good, bad := newReview("gold"), newReview("silver")
	for begin := time.Now(); ; time.Sleep(20 * time.Millisecond) {
		allowed, err := r.ask(good)
		if err == nil && !allowed {
			err = errors.New("the server denies what it must allow")
		}
		if err == nil {
			break
		}
		if time.Since(begin) > 20*time.Second {
			check(err)
		}
	}
	allowed, err := r.ask(bad)
	if err == nil && allowed {
		err = errors.New("the server allows what it must deny")
	}
	check(err)
}

// run sends reviews for this long, and waits for their answers.
func (r *reviewer) run(rate, inFlight int, duration time.Duration) {
	good := newReview("gold")
	var pending sync.WaitGroup
	start := time.Now()
	if rate > 0 {
		for i := range int(duration.Seconds() * float64(rate)) {
			time.Sleep(time.Until(start.Add(time.Duration(i) * time.Second / time.Duration(rate))))
			pending.Go(func() { r.measure(good) })
		}
	} else {
		for range inFlight {
			pending.Go(func() {
				for time.Since(start) < duration {
					r.measure(good)
				}
			})
		}
	}
	pending.Wait()
}

func (r *reviewer) measure(what review) {
	begin := time.Now()
	allowed, err := r.ask(what)
	took := time.Since(begin)
	if err == nil && !allowed {
		err = errors.New("the server denies what it must allow")
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.took = append(r.took, took)
	if err != nil {
		r.errs = append(r.errs, err)
	}
}

func (r *reviewer) ask(what review) (bool, error) {
	uid := uidOf(r.sent.Add(1))
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, r.url, strings.NewReader(what.body(uid)))
	if err != nil {
		return false, err
	}
	request.Header.Set("Accept", "application/json, */*")
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("User-Agent", "kube-apiserver-admission")
	response, err := r.client.Do(request)
	if err != nil {
		return false, err
	}
	defer response.Body.Close()
	var body bytes.Buffer
	if _, err := io.Copy(&body, response.Body); err != nil {
		return false, err
	}
	if response.StatusCode != http.StatusOK {
		return false, fmt.Errorf("HTTP %d: %s", response.StatusCode, body.Bytes())
	}
	return verdict(body.Bytes(), uid)
}

// report prints one line of JSON for each figure, as the measured programs do.
func (r *reviewer) report(took, cpu time.Duration) {
	n := float64(len(r.took))
	slices.Sort(r.took)
	at := func(share float64) float64 { return float64(r.took[int(share*(n-1))]) / 1e3 }
	size := len(newReview("gold").body(uidOf(0)))
	for _, row := range []struct {
		metric string
		value  float64
		unit   string
	}{
		{"cpu per review", float64(cpu) / 1e3 / n, "us"}, {"p50", at(0.5), "us"}, {"p99", at(0.99), "us"},
		{"max", at(1), "us"}, {"reviews", n, ""}, {"reviews per second", n / took.Seconds(), "1/s"},
		{"errors", float64(len(r.errs)), ""}, {"bytes per review", float64(size), "B"},
	} {
		check(json.NewEncoder(os.Stdout).Encode(map[string]any{"metric": row.metric, "value": row.value, "unit": row.unit}))
	}
}

// cpuOf is the user and system time of a process, all threads, to the nanosecond: its CPU-time clock
// (clock_getcpuclockid(3)).
func cpuOf(pid int) time.Duration {
	var t syscall.Timespec
	clock := ^pid<<3 | 2
	if _, _, errno := syscall.Syscall(syscall.SYS_CLOCK_GETTIME, uintptr(clock), uintptr(unsafe.Pointer(&t)), 0); errno != 0 {
		check(fmt.Errorf("the CPU time of process %d: %w", pid, errno))
	}
	return time.Duration(t.Nano())
}
