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
	case ideafile.Waiting:
		b.WriteString("it is not ready yet")
	case ideafile.AwaitingApproval:
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

// UnknownCallError says that no Call has the id, which one was probably meant, and which Calls wait. known may hold
// further candidates.
func UnknownCallError(id string, known []string, waiting []Pending) error {
	text := ErrUnknownCallBriefly(id).Error()
	var pending, shown []string
	for _, p := range waiting {
		pending = append(pending, p.CallID)
		shown = append(shown, p.CallID+" "+p.Tool)
	}
	near := cmp.Or(nearestCallSuggestion(id, pending, known), ".")
	if len(shown) == 0 {
		return errors.New(text + near + " Nothing waits for a person here")
	}
	return errors.New(text + near + " What waits for a person here: " + diag.FirstNamesAndCount(shown))
}

// ErrUnknownCallBriefly is UnknownCallError without a proposal, which takes long to find among many.
func ErrUnknownCallBriefly(id string) error {
	return fmt.Errorf("there is no Call %q", jsonval.ClipForError(id))
}

// nearestCallSuggestion proposes the Call that was probably meant. It prefers, in this order, a waiting Call at the
// same place in the Plan, a waiting Call with a similar id, and another Call with a similar id.
func nearestCallSuggestion(id string, pending, known []string) string {
	place, _, _ := strings.Cut(id, "@")
	for _, p := range pending {
		if other, _, _ := strings.Cut(p, "@"); other == place {
			return "; did you mean " + p + "?"
		}
	}
	for _, ids := range [][]string{pending, known} {
		byTyped := map[string]string{}
		for _, p := range ids {
			byTyped[ideafile.TypeableCallID(p)] = p
		}
		if near, ok := byTyped[diag.NearestName(ideafile.TypeableCallID(id), jsonval.SortedKeys(byTyped))]; ok {
			return "; did you mean " + near + "?"
		}
	}
	return ""
}
