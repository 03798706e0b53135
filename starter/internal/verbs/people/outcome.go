package people

import (
	"errors"

	"github.com/spf13/cobra"

	"processidea/client"
	"processidea/starter/internal/app"
	"processidea/starter/internal/print"
)

// outcome is what became of a signal, as --json prints it.
type outcome struct {
	Process  string `json:"process"`
	Signal   string `json:"signal"`
	Call     string `json:"call,omitempty"`
	Accepted bool   `json:"accepted"`
	Reason   string `json:"reason,omitempty"` // why it was refused
}

// printOutcome says what became of a signal, and gives the error for the exit code.
func printOutcome(a *app.App, process, signal, call string, err error) error {
	var refused *client.RefusedError
	isRefused := errors.As(err, &refused)
	if err != nil && !isRefused {
		return err
	}
	if a.JSON {
		o := outcome{Process: process, Signal: signal, Call: call, Accepted: !isRefused}
		if isRefused {
			o.Reason = refused.Reason
		}
		if broken := a.PrintJSON(o); broken != nil {
			return broken
		}
	}
	if isRefused || a.JSON {
		return err
	}
	subject := process
	if call != "" {
		subject += " " + call
	}
	return a.Print(print.Printable(subject) + ": " + signal + " taken\n")
}

// byFlags are the flags that the verbs which steer have in common.
type byFlags struct{ by, reason string }

func (f *byFlags) add(c *cobra.Command) {
	addByFlag(c, &f.by)
	c.Flags().StringVar(&f.reason, "reason", "", "why")
}

func addByFlag(c *cobra.Command, by *string) {
	c.Flags().StringVar(by, "by", "", "the `name` of who does it (default: the user's)")
}

func addKeyFlag(c *cobra.Command, key *string) {
	c.Flags().StringVar(key, "key", "", "sign with the private key in this `file` (default $PROCESSIDEA_KEY)")
}

func (f *byFlags) who() client.By { return client.By{Name: nameOr(f.by), Reason: f.reason} }

// nameOr is a name, or the user's where none is given.
func nameOr(given string) string {
	if given != "" {
		return given
	}
	return app.UserName()
}
