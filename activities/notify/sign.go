package notify

import (
	"encoding/base64"
	"fmt"
	"net/http"
	"strconv"
	"strings"

	webhook "github.com/standard-webhooks/standard-webhooks/libraries/go"
)

const secretPrefix = "whsec_"

// readKeys reads the secrets. Their texts are in no error.
func readKeys(text string) (keys []*webhook.Webhook, err error) {
	for n, word := range strings.Fields(text) {
		encoded, ok := strings.CutPrefix(word, secretPrefix)
		secret, err := base64.StdEncoding.DecodeString(encoded)
		if !ok || err != nil || len(secret) < 24 || len(secret) > 64 {
			return nil, fmt.Errorf("notify: read %s: secret %d must be %s and 24 to 64 bytes in base64", SecretVariable,
				n+1, secretPrefix)
		}
		key, _ := webhook.NewWebhookRaw(secret) // it accepts any bytes
		keys = append(keys, key)
	}
	return keys, nil
}

// sign sets the headers of Standard Webhooks (standardwebhooks.com). Without a secret there is no signature, as for
// Slack, whose address is a secret itself.
func (s *Sender) sign(h http.Header, messageID string, body []byte) {
	now := s.now()
	h.Set(webhook.HeaderWebhookID, messageID)
	h.Set(webhook.HeaderWebhookTimestamp, strconv.FormatInt(now.Unix(), 10))
	var signatures []string
	for _, key := range s.signingKeys {
		signature, _ := key.Sign(messageID, now, body) // it never fails
		signatures = append(signatures, signature)
	}
	if len(signatures) > 0 {
		h.Set(webhook.HeaderWebhookSignature, strings.Join(signatures, " "))
	}
}
