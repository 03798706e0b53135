#!/bin/sh
# Makes the namespace, and the search attributes that make processes findable in the Temporal UI. Again is no harm: it
# runs at every start.
set -eu

: "${TEMPORAL_ADDRESS:?}" "${TEMPORAL_NAMESPACE:=default}" "${RETENTION:=30d}"
export TEMPORAL_ADDRESS TEMPORAL_NAMESPACE

# patiently repeats a command that fails while the server is starting, for a minute.
patiently() {
	for _ in $(seq 60); do
		"$@" && return
		sleep 1
	done
	echo "given up: $*" >&2
	return 1
}

namespace() {
	temporal operator namespace describe --namespace "$TEMPORAL_NAMESPACE" >/dev/null 2>&1 ||
		temporal operator namespace create --namespace "$TEMPORAL_NAMESPACE" --retention "$RETENTION"
}

attributes() {
	temporal operator search-attribute create \
		--name IdeaStatus --type Keyword --name IdeaPath --type Keyword --name IdeaAwaiting --type Int
}

patiently temporal operator cluster health
patiently namespace
# All parts of the server know of a new namespace only seconds later.
patiently attributes
