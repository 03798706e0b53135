#!/usr/bin/env bash
# Makes docs/approval.svg, the recording of an approval that the README shows: the process that `starter init` writes, at a terminal. Needs python3.
set -euo pipefail
cd "$(dirname "$0")/.."

try=$(mktemp -d)
trap 'rm -rf "$try"' EXIT
go build -o "$try/starter" ./starter
svg=$PWD/docs/approval.svg record=$PWD/docs/record.py
cd "$try"
./starter init desk --without-go >/dev/null
unset OPENAI_API_KEY OPENAI_BASE_URL
TZ=UTC python3 "$record" "$svg" 17 "starter run desk" "./starter run desk --id desk --gateway-port=-1" "[s]kip: =y"
