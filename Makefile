# The commands of this project. `make` lists them.

.PHONY: help
help: ## what there is
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed 's/:.*## /\t/' | sort

.PHONY: test
test: ## everything, on the real Temporal server
	go test ./...

.PHONY: race
race: ## the same under the race detector; the first build takes long
	go test -race ./...

.PHONY: fuzz
fuzz: ## every fuzz target for half a minute (FUZZTIME=…, FUZZ=the packages)
	@for package in $$(go list $(or $(strip $(FUZZ)),./...)); do \
		for target in $$(grep -hoE '^func Fuzz[A-Za-z]+' $$(go list -f '{{.Dir}}' $$package)/*_test.go 2>/dev/null | cut -c6-); do \
			echo "$$package $$target"; \
			go test $$package -run '^$$' -fuzz "^$$target$$" -fuzztime $(or $(FUZZTIME),30s) -fuzzminimizetime 10x || exit 1; done; done

.PHONY: all
all: ## all that there is: the long run, an hour and more
	.ci/all

.PHONY: cluster
cluster: ## Temporal as a cluster on PostgreSQL, two workers, two gateways; each is stopped in its turn; it prints addresses
	PROCESSIDEA_LONG=1 go test ./internal/devserver/postgres -run EveryPartOfACluster -count 1 -v -timeout 120m -instances 1000

.PHONY: vuln
vuln: ## known faults of what this is built of, where their database can be reached
	go run golang.org/x/vuln/cmd/govulncheck@latest ./...

.PHONY: lint
lint: ## gofmt, vet, golangci-lint and workflowcheck, as .ci/run does
	.ci/lint

.PHONY: histories
histories: ## record histories anew, after a change that old ones need not survive
	rm -rf workflows/testdata/histories/* workflows/testdata/store
	go test ./workflows -count 1 -record

.PHONY: screenshot
screenshot: ## the pictures of docs/: the Temporal UI on two examples, by headless Chromium
	docs/screenshot.sh

.PHONY: compose
compose: ## check docker-compose.yml with Docker Compose itself, built from its source; the first build takes minutes
	@dir=$$(mktemp -d) && trap 'rm -rf "$$dir"' EXIT && cd "$$dir" && go mod init compose && \
		go get github.com/docker/compose/v5/cmd@v5.5.1 && \
		go run github.com/docker/compose/v5/cmd --file "$(CURDIR)/docker-compose.yml" --profile tools config --quiet

.PHONY: build
build: ## bin/starter (with the embedded server) and bin/worker (without)
	go build -o bin/ ./starter ./worker
