# The whole project by one word each. Every target installs what it needs and
# does not find: on a bare Debian 12 with git, make and Go (as root) everything
# works; where things are already there, nothing is installed.

SHELL       := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help

# One static binary, the same from any machine; only the race detector needs C.
export CGO_ENABLED ?= 0

# How long each fuzz target runs: make fuzz FUZZTIME=1h
FUZZTIME ?= 60s
# What the demo renders: make demo FILE=scene.blend FRAMES=1-5 OUT=folder
FILE   ?=
FRAMES ?=
OUT    ?=

# Git refuses checkouts of another owner (containers); then build without the stamp.
BUILDVCS := $(shell git status >/dev/null 2>&1 && echo auto || echo false)

export PATH := $(CURDIR)/.tools:$(PATH)

.PHONY: help
help: ## Show this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-10s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

.PHONY: demo
demo: build ## Render a real .blend through the whole service, from price to verified receipt
	@scripts/with-blender scripts/demo "$(FILE)" "$(FRAMES)" "$(OUT)"

.PHONY: build
build: ## Build ./svc
	@scripts/step modules "fetching the Go modules of svc" go list -deps ./cmd/svc >/dev/null
	@scripts/step build "building svc" go build -v -trimpath -buildvcs=$(BUILDVCS) -o svc ./cmd/svc

# What every run of the tests needs; nothing is installed twice.
TEST_NEEDS = @scripts/install-tools postgres chromium xvfb outside sandbox shells python pdf promtool units && scripts/install-npm && scripts/install-stripe-mock
# The longest packages first: the others then run at the same time.
TESTS      = scripts/step modules "fetching the Go modules of the tests" go list -deps -test ./... >/dev/null && go build -buildvcs=false -o .tools/testrun ./scripts/testrun && scripts/with-blender scripts/with-postgres scripts/with-s3 testrun
PACKAGES   = ./cmd/svc ./internal/test/story/... ./...

.PHONY: test
test: ## Run every test, with a real Blender, PostgreSQL and S3 server
	$(TEST_NEEDS)
	@$(TESTS) $(PACKAGES) -- -vet=off -timeout 20m

.PHONY: quick
quick: ## While you work: the tests of what you changed and, in two minutes, of what depends on it
	$(TEST_NEEDS)
	@$(TESTS) -changed $(PACKAGES) -- -vet=off -timeout 20m

.PHONY: stop
stop: ## Stop the PostgreSQL and S3 servers of the tests, which stay up, and delete their files
	@scripts/with-postgres --stop && scripts/with-s3 --stop

.PHONY: check
check: lint ## What a change must pass: lint, then every test, with the race detector except for stories and where a real Blender or browser is waited for
	@scripts/install-tools gcc
	$(TEST_NEEDS)
	@$(TESTS) -race most $(PACKAGES) -- -vet=off -timeout 25m

.PHONY: lint
lint: .tools/built ## Format, vet, staticcheck, revive, import rules, links, fresh generated code, scripts
	@scripts/install-tools shellcheck
	@scripts/check-format
	go vet -tags wine ./...
	go vet -tags deploy ./...
	go vet -tags extension ./...
	go vet -tags generators ./internal/test/story/clients
	go vet -tags proxies ./internal/test/proxies
	@scripts/check-platforms
	staticcheck ./...
	revive -config revive.toml -set_exit_status ./...
	@scripts/check-imports
	@scripts/check-tables
	@scripts/check-dependencies
	@go mod tidy -diff
	@go mod verify >/dev/null
	@scripts/check-vulnerabilities
	@scripts/check-links
	@scripts/check-operate --blocks
	@scripts/check-prose
	@scripts/check-tests
	@scripts/check-openapi
	@scripts/check-generated
	@scripts/check-scripts

# Every test at its full size, chaos and kills among them, each package with the race
# detector, and without it what takes hours under it (package internal/test/long); then
# every parser against made-up input, FUZZTIME each.
.PHONY: test-long
test-long: ## What takes hours: every test in full and with the race detector, chaos, kills, Wine, the release, an operator's page, fuzz
	@scripts/install-tools gcc
	$(TEST_NEEDS)
	@export SVC_TEST_LONG=1; $(TESTS) -race all $(PACKAGES) -- -vet=off -count=1 -timeout 2h
	@SVC_TEST_LONG=1 scripts/with-postgres scripts/with-s3 go test -count=1 -timeout 1h ./internal/work/dispatch ./internal/work/audit/damage
	@$(MAKE) --no-print-directory generators proxies upgrade-test wine deploy-test addon-test check-release check-operate fuzz

.PHONY: generators
generators: ## Make clients of the OpenAPI document with ogen, oapi-codegen, orval and hey-api, compile them, and render a job with each
	@scripts/install-generators
	@scripts/with-blender scripts/with-postgres scripts/with-s3 go test -tags generators -count=1 -timeout 30m -run '^TestEveryGeneratedClient' -v ./internal/test/story/clients | \
	  grep -E '^ *(--- |FAIL|ok|panic)|generated_clients_test'

.PHONY: proxies
proxies: ## Render a job behind nginx, Caddy, HAProxy, Apache, lighttpd and Varnish, each with its defaults
	@scripts/install-tools proxies
	@go test -tags proxies -count=1 -timeout 10m -v -run '^TestTheServiceIsTheSameBehindEveryProxy$$' ./internal/test/proxies | \
	  grep -E '^ *(--- |FAIL|ok|panic)|_test.go:[0-9]+: '

# The program to begin an upgrade with: make upgrade-test PREVIOUS=./svc-1.2.0
PREVIOUS ?=

.PHONY: upgrade-test
upgrade-test: ## Upgrade three processes one by one behind nginx, go back, and restart two in turn, with callers on them
	@scripts/install-tools postgres proxies
	@SVC_PREVIOUS="$(PREVIOUS)" scripts/with-postgres scripts/with-s3 go test -tags proxies -count=1 -timeout 15m -v -run '^TestNoCallFails' ./internal/test/proxies | \
	  grep -E '^ *(--- |FAIL|ok|panic)|_test.go:[0-9]+: '

.PHONY: bench
bench: ## Measure the service, compare it with its baselines and print the ratios
	@scripts/install-tools postgres sandbox
	@scripts/with-blender scripts/with-postgres scripts/with-s3 go run ./bench

# The .blend files to compare in place of the made scenes: make corpus FILES=folder, or
# make causes; ONLY=regexp takes those of a name. Rows that RESULTS has are not compared
# again, and are what docs/internal/corpus.md is printed from.
FILES   ?=
ONLY    ?=
# RANDOM_SCENES is how many random scenes each Blender compares; those that random.jsonl has
# are not compared again.
RANDOM_SCENES ?= 1000
# PAIRS is how many pairs of revisions each Blender compares; those that revisions.jsonl has
# are not compared again.
PAIRS ?= 1000
RESULTS ?= scripts/corpus/results.jsonl

.PHONY: corpus
corpus: ## Compare every frame of the service with Blender by hand, over a hundred made scenes
	@scripts/install-tools sandbox
	@scripts/with-blender go run ./scripts/corpus -files "$(FILES)" -only "$(ONLY)" -results "$(RESULTS)"
	@scripts/with-new-blender bash -c 'SVC_BLENDER=$${SVC_BLENDER_ALONE:-$$SVC_BLENDER_EXTENSIONS} go run ./scripts/corpus -blender 4.3.2 -no-sandbox -only "$(or $(filter nodes_%,$(ONLY)),^nodes_)" -results "$(RESULTS)"'
	@scripts/with-blender go run ./scripts/corpus -fuzz $(RANDOM_SCENES)
	@scripts/with-new-blender bash -c 'SVC_BLENDER=$$SVC_BLENDER_EXTENSIONS go run ./scripts/corpus -fuzz $(RANDOM_SCENES)'
	@scripts/with-blender go run ./scripts/corpus -strips -only "$(ONLY)"
	@scripts/with-new-blender bash -c 'SVC_BLENDER=$${SVC_BLENDER_ALONE:-$$SVC_BLENDER_EXTENSIONS} go run ./scripts/corpus -strips -only "$(ONLY)"'
	@scripts/with-blender go run ./scripts/corpus -pairs $(PAIRS)
	@scripts/with-new-blender bash -c 'SVC_BLENDER=$$SVC_BLENDER_EXTENSIONS go run ./scripts/corpus -pairs $(PAIRS)'

.PHONY: causes
causes: ## Hold each warning against pictures with its cause and without it
	@scripts/with-blender go run ./scripts/causes -files "$(FILES)"

# How many rounds make chaos does on each database, and the first one's seed:
# make chaos ROUNDS=1 CHAOS_SEED=1795221993161 runs one again.
ROUNDS ?= 20

.PHONY: chaos
chaos: ## Break everything at once, ROUNDS times (20), and audit what is left
	@scripts/install-tools postgres
	@CHAOS_ROUNDS=$(ROUNDS) scripts/with-postgres scripts/with-s3 go test -count=1 -timeout 0 -run '^TestChaos$$' -v ./internal/test/story/processes | \
	  grep -E '^ *(--- |FAIL|ok|panic)|_test.go:[0-9]+: '

# KEY signs the sums (docs/internal/releasing.md): make release KEY=release-key.pem
KEY ?=
DIST ?= dist

.PHONY: release
release: ## Make what is published of HEAD into dist: archives, Debian packages, bills of materials, sums
	@go build -buildvcs=false -o .tools/release ./scripts/release
	@.tools/release --out "$(DIST)" --key "$(KEY)"

# Tag of the images: make images SVC_TAG=1.2.0
.PHONY: images
images: ## Make the container images of svc into dist/images, as OCI archives, without a container engine
	@scripts/images "$(DIST)/images"

.PHONY: check-release
check-release: ## Make the release twice and compare every byte; install the package where that is possible
	@scripts/check-release

.PHONY: check-operate
check-operate: ## Follow the pages for operators word by word on bare Debians with systemd: install, render, lose, restore
	@scripts/check-operate

.PHONY: deploy-test
deploy-test: ## Run workers as jobs of a real Slurm, with a preemption in the middle of a frame, and a farm of three processes with kills; in containers of podman; and by a real Kubernetes control plane (built once, ten minutes and more)
	@scripts/install-tools postgres slurm sandbox python openssl podman mmdebstrap
	@scripts/with-blender scripts/with-postgres scripts/with-s3 scripts/with-slurm go test -tags deploy -count=1 -timeout 15m -run '^TestSlurm' -v ./internal/test/story/processes | \
	  grep -E '^(---|ok|FAIL|PASS|panic)|slurm_(farm_)?test'
	@scripts/images .tools/images svc svc-worker
	@SVC_IMAGES=$(CURDIR)/.tools/images scripts/with-blender go test -tags deploy -count=1 -timeout 15m -run '^TestPodman|^TestTheImage' -v ./internal/test/story/processes | \
	  grep -E '^(---|ok|FAIL|PASS|panic)|podman_test'
	@scripts/with-blender scripts/with-kubernetes go test -tags deploy -count=1 -timeout 15m -run '^TestKubernetes' -v ./internal/test/story/processes | \
	  grep -E '^(---|ok|FAIL|PASS|panic)|kubernetes_test'

.PHONY: addon-test
addon-test: ## Install the add-on from the service into a Blender that has extensions (Debian 13's, fetched once), and render from it, in two minutes, or fifteen where other tests run too
	@scripts/install-tools xvfb sandbox
	@scripts/with-new-blender scripts/with-blender go test -tags extension -count=1 -timeout 45m -run '^TestExtension' -v ./internal/test/story/blender | \
	  grep -E '^(---|ok|FAIL|PASS|panic)|_test.go:[0-9]+: '

.PHONY: wine
wine: ## Run the scripts of callers with the Windows program, under Wine
	@scripts/install-tools sandbox
	@GOOS=windows GOARCH=amd64 scripts/step build "building svc.exe" go build -v -trimpath -buildvcs=false -o .tools/svc.exe ./cmd/svc
	@SVC_WINDOWS=$(CURDIR)/.tools/svc.exe scripts/with-wine scripts/with-blender go test -tags wine -count=1 -p 1 -timeout 30m -run '^TestTheWindowsProgram' -v ./internal/test/story/processes ./cmd/svc | \
	  grep -aE '^ *(--- |FAIL|ok|panic)|^ +(>|\[|testscript|.*takes longer)'

.PHONY: screenshots
screenshots: ## Take a picture of each page of the console and the leaderboard, wide, narrow and dark, into docs/screenshots
	@scripts/install-tools chromium
	@scripts/install-npm
	@rm -rf docs/screenshots && mkdir -p docs/screenshots
	@SVC_TEST_SCREENSHOTS="$(CURDIR)/docs/screenshots" scripts/with-blender go test -count=1 -run '^TestPages(OfTheConsole)?ReadWellOnEveryScreen$$' ./internal/door/web

.PHONY: sdks
sdks: ## Build the packages of the SDKs into dist, without a network: a wheel for Python, a tarball for npm
	@go run ./scripts/packages sdks "$(DIST)"

.PHONY: addon
addon: ## Build the add-on for Blender into dist: an extension, a legacy add-on, and a repository's listing
	@go build -buildvcs=$(BUILDVCS) -o .tools/packages ./scripts/packages
	@.tools/packages addon "$(DIST)"

.PHONY: generate
generate: .tools/built ## Write all generated code and documents again
	@go generate ./...
	@scripts/build-typescript-sdk

.PHONY: fuzz
fuzz: ## Run each fuzz target for FUZZTIME (60s)
	@FUZZTIME=$(FUZZTIME) scripts/fuzz

.PHONY: fmt
fmt: ## Format all Go code
	@gofmt -l -w $$(git ls-files --cached --others --exclude-standard '*.go')

# The pinned Go tools, built once for each change of their versions.
.tools/built: tools/go.mod tools/go.sum
	@mkdir -p .tools
	@scripts/step tools "building the pinned tools into .tools (once)" go -C tools build -v -trimpath -o ../.tools/ tool
	@touch $@
