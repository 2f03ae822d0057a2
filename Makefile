# `make help` lists the targets; `make check` is what CI runs first.

GO        ?= go
BIN       := bin
GOBIN     := $(shell $(GO) env GOPATH)/bin
LINT      := $(GOBIN)/golangci-lint
LINT_V    := v2.15.0
FUMPT     := $(GOBIN)/gofumpt
FUMPT_V   := v0.12.0
BUILDIFY  := $(GOBIN)/buildifier
BUILDIFY_V := v0.0.0-20260904073137-eaa4d125b423
DEADCODE  := $(GOBIN)/deadcode
DEADCODE_V := v0.51.0
FUZZTIME  ?= 10s
KILLS     ?= 200
KILLS_DOCKER ?= 50

# Test binaries without debugging information link in half the time. Many tests wait for
# processes: four packages and four tests of each at once keep two cores busy. With -trimpath
# another checkout finds the packages in Go's cache.
TESTFLAGS := -count=1 -trimpath -ldflags=-w -p 4 -parallel 4

# Under -race a test binary's children would otherwise wait a second at exit.
export GORACE := atexit_sleep_ms=0

# Without it, the tests that take long are whole: `make test SHORT=`, as `.ci/run` does.
SHORT := -short

.DEFAULT_GOAL := build
.PHONY: build install test race torture lint deadcode fmt arch figures docs reference site picture man fuzz vuln cover bench check e2e e2e-docker e2e-podman e2e-k8s e2e-page e2e-mcp screenshots e2e-slurm torture-docker cross release e2e-release tools clean help

build: ## build bin/torchx
	CGO_ENABLED=0 $(GO) build -trimpath -o $(BIN)/torchx ./cmd/torchx

install: ## install torchx into GOBIN
	CGO_ENABLED=0 $(GO) install -trimpath ./cmd/torchx

test: ## run the tests that need nothing but Go; with SHORT= also those that take long
	$(GO) test $(TESTFLAGS) $(SHORT) -timeout 20m ./...

race: ## run the same tests under the race detector
	$(GO) test $(TESTFLAGS) $(SHORT) -race -timeout 25m ./...

e2e: ## run the end-to-end tests; TORCHX_REQUIRE=torch makes a missing part a failure
	$(GO) test -count=1 -tags e2e ./test/e2e/...

e2e-docker: ## test the docker backend on a real engine: the one that answers, or one started for it (needs root and docker.io)
	TORCHX_REQUIRE=docker $(GO) test -count=1 -timeout 20m ./backends/docker/... ./test/docker/...
	TORCHX_REQUIRE=docker $(GO) test -count=1 -timeout 20m -tags e2e -run InContainers ./test/e2e/...

e2e-podman: ## test the docker backend on Podman (needs root, podman, netavark, aardvark-dns, catatonit)
	TORCHX_ENGINE=podman DOCKER_HOST=unix:///nonexistent TORCHX_REQUIRE=docker $(GO) test -count=1 -timeout 10m ./backends/docker

e2e-k8s: ## test the kubernetes backend on a real cluster of its own, see test/cluster (needs root and docker.io; builds it once, 15 minutes)
	K8S_FEATURE_GATES=PodLogsQuerySplitStreams=true TORCHX_REQUIRE=docker test/cluster/run.sh $(GO) test -count=1 -p 1 -parallel 8 -timeout 40m ./backends/kubernetes/... ./test/kubernetes/...

e2e-slurm: ## test the slurm backend on a real cluster of its own, with and without accounting, see test/slurm (needs root and Debian's Slurm)
	test/slurm/run.sh $(GO) test -count=1 -p 1 -parallel 4 -timeout 30m ./backends/slurm/... ./test/slurm/...
	test/slurm/run.sh $(GO) test -count=1 -timeout 10m -run 'TestConsoleBlocks/docs/howto/slurm.md' ./cmd/torchx
	SLURM_ACCOUNTING=no test/slurm/run.sh $(GO) test -count=1 -p 1 -parallel 4 -timeout 30m ./backends/slurm/...

torture: ## kill torchx KILLS times at random moments (SEED=n repeats a run), and the full loads
	$(GO) test -count=1 -timeout 10m -tags torture -run TestMany -v ./test/torture
	TORCHX_KILLS=$(KILLS) TORCHX_SEED=$(SEED) $(GO) test -count=1 -timeout 30m -tags torture -run TestTorture -v ./test/torture
	$(GO) test -count=1 -timeout 10m -tags failpoint ./test/sweep

e2e-page: test/page/node_modules ## test the page in a browser (needs chromium, nodejs, npm)
	TORCHX_REQUIRE=chromium $(GO) test -count=1 -timeout 20m ./test/page

screenshots: test/page/node_modules ## draw the pages anew: docs/screenshots
	TORCHX_REQUIRE=chromium TORCHX_SCREENSHOTS=$(CURDIR)/docs/screenshots $(GO) test -count=1 -timeout 20m ./test/page -run TestBrowser

e2e-mcp: test/mcp/node_modules ## test torchx mcp by a client from npm (needs nodejs, npm)
	TORCHX_REQUIRE=npm $(GO) test -count=1 ./test/mcp

test/mcp/node_modules: test/mcp/package-lock.json
	cd test/mcp && npm ci --no-audit --no-fund && touch node_modules

test/page/node_modules: test/page/package-lock.json
	cd test/page && npm ci --no-audit --no-fund && touch node_modules

torture-docker: ## kill agents and engines below containers KILLS_DOCKER times (root, dockerd; SEED=n repeats a run)
	TORCHX_REQUIRE=docker TORCHX_KILLS=$(KILLS_DOCKER) TORCHX_SEED=$(SEED) $(GO) test -count=1 -timeout 30m -run TestTorture -v ./test/docker

lint: tools ## check style, imports between packages, and formatting
	$(LINT) run ./...
	@out=$$($(FUMPT) -l .); test -z "$$out" || { echo "not gofumpt-ed:"; echo "$$out"; exit 1; }
	$(BUILDIFY) -mode=check -lint=off $$(find components examples -name '*.star')

deadcode: $(DEADCODE) ## list functions that no program and no test can reach, and those of the product that only tests reach
	@out=$$($(DEADCODE) -test ./...; $(DEADCODE) -filter '^torchx/(cmd|starlark|runtime|backends|state|components)' ./...); \
	test -z "$$out" || { echo "$$out"; exit 1; }

fmt: tools ## format Go and Starlark files
	$(FUMPT) -w .
	$(BUILDIFY) -lint=off $$(find components examples -name '*.star')

arch: ## draw the packages: docs/architecture.svg and the tables of docs/architecture.md
	$(GO) run ./test/arch

figures: ## print how large the program is: lines, packages, import depth, the way of `run utils.echo`, its start
	@$(GO) run ./test/arch figures

reference: ## write the generated pages of docs/reference
	$(GO) test -count=1 ./cmd/torchx -run 'TestReference|TestJSONNames' -update

site: ## write docs/site.html, the documentation as one page
	$(GO) run ./test/site docs/site.html

picture: build ## run the session of README and draw it: docs/session.svg
	$(GO) run ./test/picture $(BIN)/torchx docs/session.svg

man: build ## write man pages to bin/man
	$(BIN)/torchx docs --man -o $(BIN)/man

docs: build ## write docs/components anew
	TORCHXCONFIG= $(BIN)/torchx component doc -o docs/components --title "Built-in components" components

fuzz: ## run every fuzz target for FUZZTIME (60s at night), fail at the end if any failed
	@GO="$(GO)" ./test/fuzz/fuzz.sh $(FUZZTIME)

vuln: ## look for known vulnerabilities of dependencies; TORCHX_REQUIRE=vuln makes a missing database a failure
	@GO="$(GO)" ./test/vuln.sh $(GOBIN)/govulncheck

cover: ## write coverage to bin/cover.html
	@mkdir -p $(BIN)
	$(GO) test -coverprofile=$(BIN)/cover.out -coverpkg=./... ./...
	$(GO) tool cover -html=$(BIN)/cover.out -o $(BIN)/cover.html
	@$(GO) tool cover -func=$(BIN)/cover.out | tail -1

bench: build ## measure torchx next to a floor in the same run; BENCHFLAGS="-runs 3 -only RE" measures less
	$(GO) run ./test/bench -torchx $(BIN)/torchx $(BENCHFLAGS)

cross: ## build for the other systems, the tests of macOS too
	GOOS=darwin GOARCH=arm64 $(GO) vet ./...
	CGO_ENABLED=0 GOOS=darwin GOARCH=arm64 $(GO) build -trimpath -o /dev/null ./cmd/torchx
	CGO_ENABLED=0 GOOS=windows GOARCH=amd64 $(GO) build -trimpath -o /dev/null ./cmd/torchx

release: ## write a release of the commit to dist/: make release VERSION=1.0.0, see CONTRIBUTING.md
	@GO="$(GO)" cmd/torchx/release/release.sh "$(VERSION)"

e2e-release: ## build a release twice, as two users, and install the package in a fresh Debian (needs root, debootstrap, podman)
	.ci/release

check: lint test cross ## lint, test and build for the other systems

tools: $(LINT) $(FUMPT) $(BUILDIFY)
$(LINT):
	$(GO) install github.com/golangci/golangci-lint/v2/cmd/golangci-lint@$(LINT_V)
$(FUMPT):
	$(GO) install mvdan.cc/gofumpt@$(FUMPT_V)
$(BUILDIFY):
	$(GO) install github.com/bazelbuild/buildtools/buildifier@$(BUILDIFY_V)

$(DEADCODE):
	$(GO) install golang.org/x/tools/cmd/deadcode@$(DEADCODE_V)

clean: ## remove what was built
	rm -rf $(BIN)

help: ## list the targets
	@grep -hE '^[a-z0-9-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 12
