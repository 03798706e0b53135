package people

import (
	"errors"
	"fmt"
	"strings"

	"processidea/client"
	"processidea/starter/internal/app"
	"processidea/starter/internal/print"
)

// actionOutcome says what became of an act. --json prints it.
type actionOutcome struct {
	Process       string `json:"process"`
	Signal        string `json:"signal"`
	Call          string `json:"call,omitempty"`
	IsAccepted    bool   `json:"accepted"`
	RefusalReason string `json:"reason,omitempty"` // why it was refused
	// Votes says how many of the required people have decided the same, if several must.
	Votes *client.VoteCount `json:"count,omitempty"`
}

// printActionOutcome prints what became of an act, and how many have decided if several must. It returns the error for
// the exit code.
func printActionOutcome(a *app.App, o actionOutcome, err error) error {
	var refused *client.RefusedError
	if o.IsAccepted = !errors.As(err, &refused); !o.IsAccepted {
		o.RefusalReason = refused.Reason
	} else if err != nil {
		return err
	}
	if a.WritesJSON {
		if printErr := a.PrintJSON(o); printErr != nil {
			return printErr
		}
	}
	if !o.IsAccepted || a.WritesJSON {
		return err
	}
	text := print.Printable(strings.TrimSpace(o.Process+" "+o.Call)) + ": " + o.Signal + " taken"
	if o.Votes != nil {
		text += fmt.Sprintf(", %d of %d", o.Votes.Have, o.Votes.Want)
	}
	return a.Print(text + "\n")
}
