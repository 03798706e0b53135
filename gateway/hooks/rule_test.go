package hooks_test

import (
	"encoding/base64"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	webhook "github.com/standard-webhooks/standard-webhooks/libraries/go"

	"processidea/gateway/hooks"
)

// The numbers in a webhook are its sender's, who would choose by them how much memory a rule takes. Not parallel: it
// measures what is allocated.
func TestARuleTakesNoMoreMemoryThanItMay(t *testing.T) {
	secret := "whsec_" + base64.StdEncoding.EncodeToString([]byte("a secret that nobody ever guesses"))
	key, err := webhook.NewWebhook(secret)
	if err != nil {
		t.Fatal(err)
	}
	for rule, body := range map[string]string{
		`{to: (.to * .n)}`:                            `{"to":"` + strings.Repeat("x", 1000) + `","n":9800000}`,
		`{to: [range(.n)]}`:                           `{"n":1000000000}`,
		`{to: (reduce range(.n) as $i ("x"; . + .))}`: `{"n":40}`,
		`{to: (reduce range(.n) as $i (1; [., .]))}`:  `{"n":40}`,
		`.to as $t | {to: [.list[] | {note: $t, of: .}]}`: `{"to":"` + strings.Repeat("x", 100_000) + `","list":[` +
			strings.Repeat("1,", 9999) + `1]}`,
		`.to as $t | {to: ([.list[] | tostring] | join($t))}`: `{"to":"` + strings.Repeat("x", 100_000) + `","list":[` +
			strings.Repeat("1,", 9999) + `1]}`,
	} {
		dir := t.TempDir()
		rules := fmt.Sprintf(`{"hooks": {"a": {"idea": "idea.json", "secret": "$env:S", "input": %q}}}`, rule)
		for name, text := range map[string]string{"hooks.json": rules,
			"idea.json": `{"context": [{"type": "text", "text": "x"}]}`} {
			if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		r, err := hooks.Open(filepath.Join(dir, "hooks.json"), func(string) string { return secret })
		if err != nil {
			t.Fatal(err)
		}
		now := time.Now()
		signature, err := key.Sign("m", now, []byte(body))
		if err != nil {
			t.Fatal(err)
		}
		header := http.Header{}
		header.Set(webhook.HeaderWebhookID, "m")
		header.Set(webhook.HeaderWebhookTimestamp, strconv.FormatInt(now.Unix(), 10))
		header.Set(webhook.HeaderWebhookSignature, signature)
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, err = r.Receive(t.Context(), "a", header, []byte(body))
		runtime.ReadMemStats(&after)
		if mb := (after.TotalAlloc - before.TotalAlloc) >> 20; err == nil || mb > 200 {
			t.Errorf("%s takes %d MB: %v", rule, mb, err)
		}
	}
}
