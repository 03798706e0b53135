package protocol

import (
	"fmt"
	"net/url"
	"strings"
)

// InstanceID returns the workflow id of an instance.
func InstanceID(process, token string) string {
	if token == "" {
		token = "main"
	} else {
		token = strings.NewReplacer("%", "%25", "/", "%2F", " ", "%20").Replace(token)
	}
	return process + "/" + token
}

// PartID returns the workflow id of a part of a process.
func PartID(process string, number int) string { return fmt.Sprintf("%s/~part/%d", process, number) }

// DelegateID returns the workflow id of a Call's delegate.
func DelegateID(process, call string) string {
	return process + "/~call/" + strings.NewReplacer("%", "%25", "/", "%2F", " ", "%20").Replace(call)
}

// IdempotencyKey returns the key under which the outside world knows a Call's effect, the same on every attempt:
// <process>/<token>/<call id>, each part percent-encoded.
func IdempotencyKey(process, token, call string) string {
	if token == "" {
		token = "main"
	}
	return url.PathEscape(process) + "/" + url.PathEscape(token) + "/" + url.PathEscape(call)
}
