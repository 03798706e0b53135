package approval

import (
	"cmp"
	"errors"
	"fmt"
	"strings"

	"processidea/model/diag"
	"processidea/model/ideafile"
	"processidea/model/jsonval"
)

// CallNotWaitingError says why a known Call does not wait for a decision: its status, and who has decided on it.
func CallNotWaitingError(id string, status ideafile.CallStatus, decisions []Decision) error {
	var b strings.Builder
	b.WriteString(id)
	if n := len(decisions); n > 0 {
		fmt.Fprintf(&b, " was decided on already (%s) and", decisions[n-1].describeBriefly())
	}
	b.WriteString(" waits for nobody: ")
	switch status {
	case ideafile.CallWaiting:
		b.WriteString("it is not ready yet")
	case ideafile.CallAwaitingApproval:
		b.WriteString("its instance has ended")
	default:
		b.WriteString("it is " + string(status))
	}
	return errors.New(b.String())
}

// describeBriefly is Describe without the content of changes.
func (d Decision) describeBriefly() string {
	text := d.PastTense() + " by " + d.deciderText()
	if d.Reason != "" {
		text += ": " + jsonval.Clip(d.Reason, 200)
	}
	return text
}

// UnknownCallError says that no Call has the id, which one was probably meant, and which Calls wait. knownIDs may hold
// further candidates.
func UnknownCallError(id string, knownIDs []string, waitingCalls []PendingCall) error {
	text := UnknownCallShortError(id).Error()
	var pendingIDs, descriptions []string
	for _, p := range waitingCalls {
		pendingIDs = append(pendingIDs, p.CallID)
		descriptions = append(descriptions, p.CallID+" "+p.Tool)
	}
	suggestion := cmp.Or(nearestCallSuggestion(id, pendingIDs, knownIDs), ".")
	if len(descriptions) == 0 {
		return errors.New(text + suggestion + " Nothing waits for a person here")
	}
	return errors.New(text + suggestion + " What waits for a person here: " + diag.SummarizeNames(descriptions))
}

// UnknownCallShortError is UnknownCallError without a proposal, which takes long to find among many.
func UnknownCallShortError(id string) error {
	return fmt.Errorf("there is no Call %q", jsonval.ClipForError(id))
}

// nearestCallSuggestion proposes the Call that was probably meant. It prefers, in this order, a waiting Call at the
// same place in the Plan, a waiting Call with a similar id, and another Call with a similar id.
func nearestCallSuggestion(id string, pendingIDs, knownIDs []string) string {
	callIDWithoutInstance, _, _ := strings.Cut(id, "@")
	for _, p := range pendingIDs {
		if other, _, _ := strings.Cut(p, "@"); other == callIDWithoutInstance {
			return "; did you mean " + p + "?"
		}
	}
	for _, ids := range [][]string{pendingIDs, knownIDs} {
		idByTypeableID := map[string]string{}
		for _, p := range ids {
			idByTypeableID[ideafile.TypeableCallID(p)] = p
		}
		if nearestID, ok := idByTypeableID[diag.NearestName(ideafile.TypeableCallID(id),
			jsonval.SortedKeys(idByTypeableID))]; ok {
			return "; did you mean " + nearestID + "?"
		}
	}
	return ""
}
