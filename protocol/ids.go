package protocol

import (
	"net/url"
	"strings"

	"processidea/model/ideafile"
	"processidea/model/ideafile/spelling"
)

// anonymousIDSegment stands for the empty token of the anonymous instance in workflow ids.
const anonymousIDSegment = "main"

const delegateMark = "~call"

// InstanceID returns the workflow id of an instance. Like all ids here it is ASCII if the process's id is: SDKs put
// workflow ids into headers, which must be ASCII. ① and 1, which name the same instance, give the same id, unless the
// token must be encoded.
func InstanceID(processID, instanceToken string) string {
	return processID + "/" + instanceIDSegment(instanceToken)
}

func instanceIDSegment(instanceToken string) string {
	if instanceToken == "" {
		return anonymousIDSegment
	}
	return spelling.TypeableInstanceToken(instanceToken)
}

// PartID returns the workflow id of a part of a process.
func PartID(processID string, partNumber int) string {
	return spelling.PartID(processID, partNumber)
}

// maxIDLength is the maximum length of an id in bytes: databases, such as those of Temporal, hold no more.
const maxIDLength = 255

// maxDelegateIDLength reserves space after a delegate's id for the suffixes of its parts and instances.
const maxDelegateIDLength = maxIDLength - len("/"+spelling.PartMark+"/100000/") - spelling.MaxTypeableTokenBytes

// DelegateID returns the workflow id of a Call's delegate. If nested delegates make the id too long, the ids above are
// shortened.
func DelegateID(processID, callID string) string {
	return delegateID(processID, "/"+delegateMark+"/"+ideafile.TypeableCallID(callID))
}

func delegateID(processID, suffix string) string {
	return spelling.ShortenID(processID, processID, maxDelegateIDLength-len(suffix)) + suffix
}

// IsDelegateOf reports whether id is the id of the delegate of a Call of a process, or of a part.
func IsDelegateOf(id, processID string) bool {
	index := strings.LastIndex(id, "/"+delegateMark+"/")
	return index >= 0 && delegateID(processID, id[index:]) == id
}

// ProcessTreeQuery returns a list query for all workflows of a process: its own, and those of its instances, parts and
// delegates.
func ProcessTreeQuery(processID string) string {
	return "WorkflowId = " + QuoteForQuery(processID) + " OR WorkflowId STARTS_WITH " + QuoteForQuery(processID+"/")
}

// QuoteForQuery returns an id as a list query has it.
func QuoteForQuery(id string) string {
	return "'" + strings.ReplaceAll(strings.ReplaceAll(id, `\`, `\\`), "'", `\'`) + "'"
}

// ParseInstanceID splits the workflow id of an instance, in either spelling of the token. ok is false if the id is a
// process's. spelledToken is empty for the anonymous instance.
func ParseInstanceID(id string) (processID, spelledToken string, ok bool) {
	index := strings.LastIndexByte(id, '/')
	if index < 0 {
		return id, "", false
	}
	processID, spelledToken = id[:index], id[index+1:]
	if strings.HasSuffix(processID, "/"+spelling.PartMark) || strings.HasSuffix(processID, "/"+delegateMark) {
		return id, "", false
	}
	if spelledToken == anonymousIDSegment {
		spelledToken = ""
	}
	return processID, spelledToken, true
}

// segmentsAfterParts returns the segments of a workflow id after the started process and its part.
func segmentsAfterParts(id string) []string {
	segments := strings.Split(id, "/")[1:]
	for len(segments) > 1 && segments[0] == spelling.PartMark {
		segments = segments[2:]
	}
	return segments
}

// IsRootProcessOrPart reports whether a workflow is a process that somebody started, or a part of one.
func IsRootProcessOrPart(id string) bool { return len(segmentsAfterParts(id)) == 0 }

// BelongsToInstance reports whether a workflow belongs to an instance of a started process or of one of its parts: it
// is the instance itself, or the delegate of one of its Calls.
func BelongsToInstance(id, instanceToken string) bool {
	segments := segmentsAfterParts(id)
	switch {
	case len(segments) == 0:
		return false
	case len(segments) > 1 && segments[0] == delegateMark:
		_, ownerToken, _ := strings.Cut(segments[1], "@")
		return ownerToken == spelling.TypeableInstanceToken(instanceToken)
	}
	return segments[0] == instanceIDSegment(instanceToken)
}

// IdempotencyKey returns the key under which the outside world knows a Call's effect, the same on every attempt:
// <process>/<token>/<call id>, each part percent-encoded, and shortened to 255 bytes.
func IdempotencyKey(processID, instanceToken, callID string) string {
	key := fullCallKey(processID, instanceToken, callID)
	return spelling.ShortenID(key, key, maxIDLength)
}

// LimitWorkflowID returns the workflow id of a limit, such as the name of a Tool. No process id begins with ~limit/.
func LimitWorkflowID(limitName string) string { return "~limit/" + limitName }

// UndoKey returns the IdempotencyKey of the undoing of a Call.
func UndoKey(processID, instanceToken, callID string) string {
	key := fullCallKey(processID, instanceToken, callID) + "/undo"
	return spelling.ShortenID(key, key, maxIDLength)
}

func fullCallKey(processID, instanceToken, callID string) string {
	if instanceToken == "" {
		instanceToken = anonymousIDSegment
	}
	return url.PathEscape(processID) + "/" + url.PathEscape(instanceToken) + "/" + url.PathEscape(callID)
}
