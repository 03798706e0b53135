package loop

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"processidea/model/diag"
	"processidea/model/ideafile"
	"processidea/model/jsonval"
	"processidea/model/turn"
)

// maxFruitlessRequests is how many Requests in a row may bring nothing new, before the process pauses.
const maxFruitlessRequests = 3

// StallDetector reports whether Requests still bring anything new: a write to State, a Call that is done, an instance
// that has ended, an act of a person, or at least a different failure. Failures that differ only in numbers, times and
// ids count as the same.
type StallDetector struct {
	LastProgress ProgressCounts `json:"mark,omitzero"`
	// FailureDigests are the digests of the failures since LastProgress, with their reasons.
	FailureDigests []string `json:"failures,omitempty"`
	// FruitlessRequestCount counts the Requests in a row that brought nothing new. A Request with a new failure starts
	// the count at 1.
	FruitlessRequestCount int `json:"fruitless,omitempty"`
}

// ProgressCounts is how far a process has come. Its numbers never fall.
type ProgressCounts struct {
	StateWrites    int `json:"writes,omitempty"`
	DoneCalls      int `json:"done,omitempty"`
	EndedInstances int `json:"ended,omitempty"`
	PeopleActions  int `json:"people,omitempty"` // decisions on Calls, and messages
}

// UpdateAfterRequest returns the detector after a Request, given the failures of the Request.
func (w StallDetector) UpdateAfterRequest(progress ProgressCounts, failureDigests []string) StallDetector {
	if progress != w.LastProgress {
		return StallDetector{LastProgress: progress, FailureDigests: failureDigests}
	}
	hasNewFailure := false
	for _, f := range failureDigests {
		if !slices.Contains(w.FailureDigests, f) {
			w.FailureDigests, hasNewFailure = append(slices.Clip(w.FailureDigests), f), true
		}
	}
	w.FruitlessRequestCount++
	if hasNewFailure {
		w.FruitlessRequestCount = 1
	}
	return w
}

// StallFault returns why the next Request would be in vain; nil if it may bring something new. failures are
// the latest failures.
func (w StallDetector) StallFault(failures turn.Failures) *diag.Fault {
	if w.FruitlessRequestCount < maxFruitlessRequests {
		return nil
	}
	return diag.Faultf(turn.CodeNoProgress,
		"%d Requests in a row brought nothing new: the same Calls fail for the same reasons. %s. "+
			"Mend what fails, or revise the process (an instruction, a value of State), and resume it",
		w.FruitlessRequestCount,
		describeFailures(failures))
}

const maxShownFailures = 3

func describeFailures(list turn.Failures) string {
	if len(list) == 0 {
		return "They are skipped, since their output paths hold values already"
	}
	parts := jsonval.Map(list[:min(len(list), maxShownFailures)], turn.CallFailure.String)
	if omittedCount := len(list) - maxShownFailures; omittedCount > 0 {
		parts = append(parts, fmt.Sprintf("%d other reasons", omittedCount))
	}
	return strings.Join(parts, "; ")
}

// CallFingerprint identifies equal Calls: all of a Call except its instances and the LLM's reasoning.
func CallFingerprint(call ideafile.WrittenCall) string {
	v := call.AsWritten()
	if m, ok := v.(jsonval.Object); ok {
		v = jsonval.WithoutKey(m, "_instance", "_reasoningForCall")
	}
	return jsonval.EncodeToString(v)
}

// variableTextPattern matches what differs between the texts of repeated failures: numbers, times and ids.
var variableTextPattern = regexp.MustCompile(`[\pL\pN_-]*\pN[\pL\pN_-]*`)

// FailureDigest distinguishes failures of a Call by their reasons. callFingerprint is its CallFingerprint.
func FailureDigest(callFingerprint string, c turn.CallReport) string {
	reason := ""
	if c.Fault != nil {
		reason = c.Fault.Code + " " + variableTextPattern.ReplaceAllString(c.Fault.Message, "#")
	}
	return jsonval.Digest(string(c.Status) + "\n" + reason + "\n" + callFingerprint)[:16]
}
