package protocol

import (
	"net/url"
	"strings"

	"processidea/model/ideafile"
	"processidea/model/ideafile/spelling"
)

// anonymousInID replaces the token in workflow ids of the instance without one.
const anonymousInID = "main"

const callMark = "~call"

// InstanceID returns the workflow id of an instance. Like all ids here it is ASCII if the process's is: SDKs put
// workflow ids into headers, which take nothing else. Either spelling of the token will do, if it is not one that must
// be encoded.
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

// maxID is how long an id may be, in bytes: the databases of Temporal and of many others hold no more.
const maxID = 255

// maxDelegateID leaves room after a delegate's id for the suffixes of its parts and instances.
const maxDelegateID = maxID - len("/"+spelling.PartMark+"/100000/") - spelling.MaxTypeable

// DelegateID returns the workflow id of a Call's delegate. Where delegates within delegates make it too long, the ids
// above are shortened.
func DelegateID(process, call string) string {
	return delegateID(process, "/"+callMark+"/"+ideafile.TypeableCallID(call))
}

func delegateID(process, own string) string {
	return spelling.ShortenID(process, process, maxDelegateID-len(own)) + own
}

// IsDelegateOf reports whether an id is that of the delegate of a Call of a process, or of a part.
func IsDelegateOf(id, process string) bool {
	at := strings.LastIndex(id, "/"+callMark+"/")
	return at >= 0 && delegateID(process, id[at:]) == id
}

// QueryForAllOf finds the workflows of a process in a list of workflows: its own, its instances', its parts' and its
// delegates'.
func QueryForAllOf(process string) string {
	quoted := func(id string) string {
		return "'" + strings.ReplaceAll(strings.ReplaceAll(id, `\`, `\\`), "'", `\'`) + "'"
	}
	return "WorkflowId = " + quoted(process) + " OR WorkflowId STARTS_WITH " + quoted(process+"/")
}

// ParseInstanceID takes the workflow id of an instance apart, whichever way the token is spelled there; ok is false for
// an id that is a process's. The word is empty for the anonymous instance.
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

// wordsAfterParts gives the words of a workflow's id behind the process that somebody started and the part of it.
func wordsAfterParts(id string) []string {
	words := strings.Split(id, "/")[1:]
	for len(words) > 1 && words[0] == spelling.PartMark {
		words = words[2:]
	}
	return words
}

// IsStartedOrPart reports whether a workflow is a process that somebody started, or a part of one.
func IsStartedOrPart(id string) bool { return len(wordsAfterParts(id)) == 0 }

// IsOfInstance reports whether a workflow is an instance's of a process that somebody started, or of one of its parts,
// or belongs to it, as the delegate of a Call does.
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

// LimitID is the workflow id of a limit, such as the name of a Tool. No process has one that begins so.
func LimitID(name string) string { return "~limit/" + name }

// UndoKey is the IdempotencyKey under which a Call is taken back.
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
