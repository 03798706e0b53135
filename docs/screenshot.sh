#!/usr/bin/env bash
# Makes the pictures of docs/: runs the examples of moderation and of refunds against `starter dev` and photographs the
# Temporal UI and the desk. Needs Chromium and its driver (Debian: apt-get install chromium chromium-driver fonts-noto-cjk).
set -euo pipefail
cd "$(dirname "$0")/.."

data=$(mktemp -d); port=${PORT:-8243}; ui="http://127.0.0.1:$port"
go build -o "$data/starter" ./starter
"$data/starter" dev --data "$data" --ui-port "$port" >"$data/log" 2>&1 &
dev=$!
trap 'kill $dev; wait $dev || true; rm -rf "$data"' EXIT
until curl -fs "$ui/api/v1/settings" >/dev/null; do sleep 0.2; done
"$data/starter" run examples/moderation --id moderation --data "$data" >/dev/null
"$data/starter" run examples/refunds --id refunds --data "$data" --wait 30s >/dev/null || test $? = 3

page() { # ID TAB
  curl -fs "$ui/api/v1/namespaces/default/workflows/$1" | python3 -c "import json, sys
print('$ui/namespaces/default/workflows/$1/%s/$2' % json.load(sys.stdin)['workflowExecutionInfo']['execution']['runId'])"
}
python3 docs/screenshot.py \
  "$(page moderation history)" docs/moderation.png \
  "$(page refunds user-metadata)" docs/approvals.png \
  "$ui/namespaces/default/workflows?query=IdeaAwaiting+%3E+0" docs/awaiting.png

desk=$(grep -oE 'http://[^ ]+/\?token=[^ "]+' "$data/log" | head -1); gateway=${desk%%/\?*}
call=$(curl -fs -H "Authorization: Bearer ${desk##*token=}" "$gateway/api/approvals" | python3 -c "import json, sys, urllib.parse
print(urllib.parse.quote(json.load(sys.stdin)['approvals'][0]['call']))")
SIZE=1100,900 python3 docs/screenshot.py \
  "$desk" docs/desk-inbox.png \
  "$gateway/desk/calls/refunds/$call" docs/desk-call.png \
  "$gateway/desk/processes/refunds" docs/desk-process.png
