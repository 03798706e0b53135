package people

import (
	"errors"
	"fmt"

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
	// Count is how many people have decided the same, where several must.
	Count *client.Count `json:"count,omitempty"`
}

// printOutcome says what became of a signal, and gives the error for the exit code.
func printOutcome(a *app.App, process, signal, call string, err error) error {
	return printCounted(a, process, signal, call, client.Count{}, err)
}

// printCounted is printOutcome, and says how many have decided where several must.
func printCounted(a *app.App, process, signal, call string, count client.Count, err error) error {
	var refused *client.RefusedError
	isRefused := errors.As(err, &refused)
	if err != nil && !isRefused {
		return err
	}
	if a.JSON {
		o := outcome{Process: process, Signal: signal, Call: call, Accepted: !isRefused, Count: countOf(count)}
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
	taken := " taken"
	if c := countOf(count); c != nil {
		taken += fmt.Sprintf(", %d of %d", c.Have, c.Want)
	}
	return a.Print(print.Printable(subject) + ": " + signal + taken + "\n")
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

func addGroupFlag(c *cobra.Command, groups *[]string) {
	c.Flags().StringArrayVar(groups, "group", nil,
		"a `group` that who decides is of, where the policy asks for one; may be repeated (default $PROCESSIDEA_GROUPS, with commas between)")
}

// decideBy has a decision say who takes it: by a proof where there is a key, else by name, and groups that the environment may name.
func decideBy(d *client.Decision, key string) (err error) {
	if d.Key, err = app.SigningKey(key); err != nil || d.Key != nil {
		return err
	}
	d.By, d.Groups = nameOr(d.By), app.GroupsOr(d.Groups)
	return nil
}

func (f *byFlags) who() client.By { return client.By{Name: nameOr(f.by), Reason: f.reason} }

// nameOr is a name, or the user's where none is given.
func nameOr(given string) string {
	if given != "" {
		return given
	}
	return app.UserName()
}
