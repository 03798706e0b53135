#!/usr/bin/env bash
# Makes docs/moderation.png: runs the moderation example against `starter dev` and takes a picture of the Temporal UI.
# Needs Chromium (Debian: apt-get install chromium fonts-noto-cjk).
set -euo pipefail
cd "$(dirname "$0")/.."

data=$(mktemp -d); port=${PORT:-8243}
go build -o "$data/starter" ./starter
"$data/starter" dev --data "$data" --ui-port "$port" >"$data/log" 2>&1 &
dev=$!
trap 'kill $dev; wait $dev || true; rm -rf "$data"' EXIT
until curl -fs "http://127.0.0.1:$port/api/v1/settings" >/dev/null; do sleep 0.2; done
"$data/starter" run examples/moderation --id moderation --data "$data" >/dev/null

shoot() { # URL FILE
  chromium --headless --no-sandbox --disable-gpu --hide-scrollbars --disable-quic --no-first-run \
    --disable-background-networking --disable-component-update --disable-sync --user-data-dir="$data/chromium" \
    --window-size=1500,1150 --virtual-time-budget=20000 --screenshot="$2" "$1" 2>/dev/null
}
run=$(curl -fs "http://127.0.0.1:$port/api/v1/namespaces/default/workflows/moderation" |
  python3 -c 'import json,sys; print(json.load(sys.stdin)["workflowExecutionInfo"]["execution"]["runId"])')
shoot "http://127.0.0.1:$port/namespaces/default/workflows/moderation/$run/history" "$PWD/docs/moderation.png"
