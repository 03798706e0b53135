package protocol

import (
	"net/url"
	"strings"

	"processidea/model/ideafile"
	"processidea/model/ideafile/spelling"
)

// anonymousInID stands for the empty token of the anonymous instance in workflow ids.
const anonymousInID = "main"

const callMark = "~call"

// InstanceID returns the workflow id of an instance. Like all ids here it is ASCII if the process's id is: SDKs put
// workflow ids into headers, which must be ASCII. ① and 1, which name the same instance, give the same id, unless the
// token must be encoded.
func InstanceID(process, token string) string { return process + "/" + tokenForID(token) }

func tokenForID(token string) string {
	if token == "" {
		return anonymousInID
	}
	return spelling.TypeableToken(token)
}

// PartID returns the workflow id of a part of a process.
func PartID(process string, number int) string {
	return spelling.PartID(process, number)
}

// maxID is the maximum length of an id in bytes: databases, such as those of Temporal, hold no more.
const maxID = 255

// maxDelegateID reserves space after a delegate's id for the suffixes of its parts and instances.
const maxDelegateID = maxID - len("/"+spelling.PartMark+"/100000/") - spelling.MaxTypeable

// DelegateID returns the workflow id of a Call's delegate. If nested delegates make the id too long, the ids above are
// shortened.
func DelegateID(process, call string) string {
	return delegateID(process, "/"+callMark+"/"+ideafile.TypeableCallID(call))
}

func delegateID(process, own string) string {
	return spelling.ShortenID(process, process, maxDelegateID-len(own)) + own
}

// IsDelegateOf reports whether id is the id of the delegate of a Call of a process, or of a part.
func IsDelegateOf(id, process string) bool {
	at := strings.LastIndex(id, "/"+callMark+"/")
	return at >= 0 && delegateID(process, id[at:]) == id
}

// QueryForAllOf returns a list query for all workflows of a process: its own, and those of its instances, parts and
// delegates.
func QueryForAllOf(process string) string {
	quoted := func(id string) string {
		return "'" + strings.ReplaceAll(strings.ReplaceAll(id, `\`, `\\`), "'", `\'`) + "'"
	}
	return "WorkflowId = " + quoted(process) + " OR WorkflowId STARTS_WITH " + quoted(process+"/")
}

// ParseInstanceID splits the workflow id of an instance, in either spelling of the token. ok is false if the id is a
// process's. The word is empty for the anonymous instance.
func ParseInstanceID(id string) (process, word string, ok bool) {
	at := strings.LastIndexByte(id, '/')
	if at < 0 {
		return id, "", false
	}
	process, word = id[:at], id[at+1:]
	if strings.HasSuffix(process, "/"+spelling.PartMark) || strings.HasSuffix(process, "/"+callMark) {
		return id, "", false
	}
	if word == anonymousInID {
		word = ""
	}
	return process, word, true
}

// wordsAfterParts returns the segments of a workflow id after the started process and its part.
func wordsAfterParts(id string) []string {
	words := strings.Split(id, "/")[1:]
	for len(words) > 1 && words[0] == spelling.PartMark {
		words = words[2:]
	}
	return words
}

// IsStartedOrPart reports whether a workflow is a process that somebody started, or a part of one.
func IsStartedOrPart(id string) bool { return len(wordsAfterParts(id)) == 0 }

// IsOfInstance reports whether a workflow belongs to an instance of a started process or of one of its parts: it is the
// instance itself, or the delegate of one of its Calls.
func IsOfInstance(id, token string) bool {
	words := wordsAfterParts(id)
	switch {
	case len(words) == 0:
		return false
	case len(words) > 1 && words[0] == callMark:
		_, of, _ := strings.Cut(words[1], "@")
		return of == spelling.TypeableToken(token)
	}
	return words[0] == tokenForID(token)
}

// IdempotencyKey returns the key under which the outside world knows a Call's effect, the same on every attempt:
// <process>/<token>/<call id>, each part percent-encoded, and shortened to 255 bytes.
func IdempotencyKey(process, token, call string) string {
	key := fullCallKey(process, token, call)
	return spelling.ShortenID(key, key, maxID)
}

// LimitID returns the workflow id of a limit, such as the name of a Tool. No process id begins with ~limit/.
func LimitID(name string) string { return "~limit/" + name }

// UndoKey returns the IdempotencyKey of the undoing of a Call.
func UndoKey(process, token, call string) string {
	key := fullCallKey(process, token, call) + "/undo"
	return spelling.ShortenID(key, key, maxID)
}

func fullCallKey(process, token, call string) string {
	if token == "" {
		token = anonymousInID
	}
	return url.PathEscape(process) + "/" + url.PathEscape(token) + "/" + url.PathEscape(call)
}
