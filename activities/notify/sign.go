package notify

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"net/http"
	"strconv"
	"strings"
)

// The headers of Standard Webhooks (standardwebhooks.com). The signature is over "<id>.<timestamp>.<body>".
const (
	headerID        = "webhook-id"
	headerTimestamp = "webhook-timestamp"
	headerSignature = "webhook-signature"
)

const secretPrefix = "whsec_"

// readKeys reads the secrets. Their texts are in no error.
func readKeys(text string) ([][]byte, error) {
	var keys [][]byte
	for n, one := range strings.Fields(text) {
		encoded, ok := strings.CutPrefix(one, secretPrefix)
		key, err := base64.StdEncoding.DecodeString(encoded)
		if !ok || err != nil || len(key) < 24 || len(key) > 64 {
			return nil, fmt.Errorf("notify: read %s: secret %d must be %s and 24 to 64 bytes in base64", SecretVariable,
				n+1, secretPrefix)
		}
		keys = append(keys, key)
	}
	return keys, nil
}

// sign sets the headers. Without a secret there is no signature: Slack's address is one itself.
func (s *Sender) sign(h http.Header, id string, body []byte) {
	at := strconv.FormatInt(s.now().Unix(), 10)
	h.Set(headerID, id)
	h.Set(headerTimestamp, at)
	var signatures []string
	for _, key := range s.keys {
		mac := hmac.New(sha256.New, key)
		mac.Write([]byte(id + "." + at + "."))
		mac.Write(body)
		signatures = append(signatures, "v1,"+base64.StdEncoding.EncodeToString(mac.Sum(nil)))
	}
	if len(signatures) > 0 {
		h.Set(headerSignature, strings.Join(signatures, " "))
	}
}
