// fakeapi is the API server that every client is measured against: ConfigMaps, list and watch, in protobuf and JSON,
// over TLS and HTTP/2; with -pods Pods, in protobuf. All bodies are encoded beforehand, so that it costs little beside its clients.
//
// It prints one line, the path of a kubeconfig, once it serves, and ends when its standard input does. As "fakeapi
// reviews" it is the API server's other side: it calls a webhook.
package main

import (
	"flag"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
)

func main() {
	if len(os.Args) > 1 && os.Args[1] == "reviews" {
		reviews(os.Args[2:])
		return
	}
	objects := flag.Int("objects", 1000, "ConfigMaps or synthetic Pods that exist")
	payload := flag.Int("payload", 602, "bytes of data in each")
	pods := flag.String("pods", "", `serve Pods instead: "synthetic", or the paths of recordings, separated by commas, whose Pods are all served`)
	scopes := flag.Int("scopes", 0, "serve -objects ConfigMaps and Secrets in each of so many namespaces instead (B15)")
	latency := flag.Duration("latency", 0, "with -scopes: the time before each answer")
	bookmarks := flag.Duration("bookmarks", 0, "with -scopes: the time between the bookmarks of a watch; 0: none")
	dir := flag.String("dir", "", "folder for ca.crt, tls.crt, tls.key and kubeconfig")
	flag.Parse()
	if *dir == "" {
		log.Fatal("fakeapi: -dir is required")
	}

	listener, err := net.Listen("tcp", "127.0.0.1:0")
	check(err)
	tls, pems, err := newServing()
	check(err)
	check(writeAccess(*dir, "https://"+listener.Addr().String(), pems))

	api := &api{}
	var handler http.Handler
	if *scopes > 0 {
		listener = counting{listener, &api.counts}
		handler = newScoped(*scopes, *objects, *payload, *latency, *bookmarks).mux(api)
	} else {
		api.world = newServed(*pods, *objects, *payload)
		handler = api.mux()
	}
	server := &http.Server{
		Handler:   handler,
		TLSConfig: tls,
		ErrorLog:  log.New(io.Discard, "", 0), // of connections that break off
		ConnState: func(_ net.Conn, state http.ConnState) {
			if state == http.StateNew {
				api.counts.connections.Add(1)
			}
		},
	}
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		os.Exit(0)
	}()
	fmt.Println(filepath.Join(*dir, "kubeconfig"))
	check(server.ServeTLS(listener, "", ""))
}

// newServed is the world of the flags -pods, -objects and -payload.
func newServed(pods string, objects, payload int) *world {
	switch pods {
	case "":
		return newWorld(objects, payload)
	case "synthetic":
		return syntheticPods(objects)
	}
	recorded, err := recordedPods(strings.Split(pods, ","))
	check(err)
	return recorded
}

func check(err error) {
	if err != nil {
		log.Fatal("fakeapi: ", err)
	}
}

// counts are what /bench/stats tells, since /bench/reset.
type counts struct {
	connections, lists, watches, reviews, bytes atomic.Int64
	sent, received                              atomic.Int64 // on the wire; B15 alone
}
