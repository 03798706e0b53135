#!/bin/sh
# Installs the peers from npm, as package-lock.json has them, and compares them. What is given to it goes to main.mjs:
#
#   bench/peers/run.sh                                  every peer, three rounds, about nine minutes
#   bench/peers/run.sh dbos restate --rounds 1          two of them, once
#   bench/peers/run.sh --quick                          whether it works, not how fast
#   bench/peers/run.sh --json peers.json                also as JSON
#   bench/peers/run.sh --from peers.json --beside ours.json   that again, beside what `go run ./bench --json ours.json` wrote
#
# It needs Go, npm, a C++ compiler and Python (for SQLite's driver), and PostgreSQL's programs. README.md says more.
set -eu
called=$PWD
cd "$(dirname "$0")"

# No package's own script runs but the build of SQLite's driver, from its source and with the headers of Node's package.
if ! cmp -s package-lock.json node_modules/.installed; then
  npm ci --loglevel=error
  node=$(readlink -f node_modules/.bin/node)
  PATH=${node%/*}:$PATH npm_config_nodedir=${node%/bin/node} \
    npm rebuild better-sqlite3 --ignore-scripts=false --build-from-source --loglevel=error
  cp package-lock.json node_modules/.installed
fi
llm=$(mktemp)
trap 'rm -f "$llm"' EXIT
go build -o "$llm" ./llm
peers=$PWD
cd "$called"
"$peers/node_modules/.bin/node" "$peers/main.mjs" --llm "$llm" "$@"
