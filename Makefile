# `make help` lists the targets. Every one does its own set-up.
SHELL := bash
.DEFAULT_GOAL := help
BAZEL := hack/bazel

.PHONY: help
help: ## This list
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 20

.PHONY: setup
setup: ## Install what building needs (Debian packages, Go); on a terminal it asks first [SETUP=yes]
	@hack/setup

.PHONY: build
build: setup ## Build everything
	$(BAZEL) build //...

.PHONY: test
test: setup ## Run every test, the ones on a real control plane included
	@hack/test

.PHONY: nightly
nightly: setup ## Sanitizers, lock analysis, 10,000 seeds, 100,000 decisions, fuzzing (hours)
	@hack/nightly

.PHONY: fuzz
fuzz: setup ## A minute of each fuzz target
	@hack/fuzz

.PHONY: bench
bench: setup ## Benchmarks beside controller-runtime and kube-rs
	@hack/bench/run

.PHONY: demo
demo: setup ## Run the ScopeTemplate controllers on a private control plane, and prove it from the audit log
	@hack/demo/demo

.PHONY: demo-scoped
demo-scoped: setup ## Run an operator whose permissions come and go, and count its watches in the audit log (six to eight minutes)
	@hack/demo/scoped

.PHONY: run
run: setup ## The same control plane and manager, for you to try; run it again to rebuild and restart the manager [DIR=…] [WEBHOOKS=1] [OPERATOR=…]
	@hack/run --dir "$$DIR" $${WEBHOOKS:+--webhooks} $${OPERATOR:+--operator "$$OPERATOR" --program "$$PROGRAM"}

.PHONY: stop
stop: ## End what make run left running, and remove it with its data and logs [DIR=…]
	@hack/run stop --dir "$$DIR" $${OPERATOR:+--operator "$$OPERATOR"}

.PHONY: manifests
manifests: setup ## Regenerate the chart's generated part and the CRDs from markers and .proto files
	@hack/manifests

.PHONY: component
component: setup ## A new component that builds and runs as it stands: NAME=backup KIND=Backup [GROUP=mandate.io] [WEBHOOK=1] [CONVERSION=1] [DEMANDS=1], or for a kind that exists: KIND=Pod RESOURCE=false [GROUP=core]
	@hack/component $${WEBHOOK:+"--webhook=$$WEBHOOK"} $${CONVERSION:+"--conversion=$$CONVERSION"} $${DEMANDS:+"--demands=$$DEMANDS"} $${RESOURCE:+"--resource=$$RESOURCE"} "$$NAME" "$$KIND" $${GROUP:+"$$GROUP"}

.PHONY: operator
operator: setup ## A new operator in a folder of its own, outside this clone: DIR=../backup NAME=backup KIND=Backup [GROUP=example.com]
	@hack/operator "$$DIR" "$$NAME" "$$KIND" "$${GROUP:-example.com}"

.PHONY: reference
reference: setup ## Write the API reference of the public headers, as HTML pages in build/reference
	@hack/reference

.PHONY: install
install: setup ## Install the library for CMake: headers, archives, rbacgen [PREFIX=/usr/local] [DESTDIR=…]
	@hack/install --prefix "$${PREFIX:-/usr/local}" --destdir "$$DESTDIR"

.PHONY: image
image: setup ## Build the manager's container image as an OCI archive, with its SBOM; no daemon, no root
	@hack/image

.PHONY: release
release: setup ## Build all that is released: manager, rbacgen, image, SBOM, chart, checksums
	@hack/release

.PHONY: format
format: setup ## clang-format every source
	@git ls-files '*.h' '*.cc' | xargs clang-format -i

.PHONY: clean
clean: ## Stop this tree's Bazel and drop its outputs
	$(BAZEL) clean
