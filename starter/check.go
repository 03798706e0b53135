package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"processidea/model/diag"
)

func (a *app) checkVerb() *cobra.Command {
	var s source
	c := &cobra.Command{
		Use:   "check FILE|FOLDER",
		Short: "Say everything that is wrong with a process's files",
		Long: `Say everything that is wrong with an Idea file and the files beside it, each with
its place. Neither a server nor an LLM is needed. Warnings alone do not fail.`,
		Example: `  starter check refund.json
  starter check examples/moderation --json`,
		Args: cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error { return a.check(args[0], s) },
	}
	sourceFlags(c, &s)
	return c
}

// checked is one problem of check --json.
type checked struct {
	Path    string `json:"path"`
	Message string `json:"message"`
	Warning bool   `json:"warning"`
}

func (a *app) check(given string, s source) error {
	p, err := a.place()
	if err != nil {
		return err
	}
	if err := s.find(given); err != nil {
		return err
	}
	m, problems, err := load(s, knownTools(p))
	if err != nil {
		return err
	}
	if a.json {
		err = a.printProblems(problems)
	} else {
		a.complain(given, problems)
	}
	switch {
	case err != nil:
		return err
	case len(problems.Errors()) > 0:
		return &exit{code: exitUsage}
	case !a.json:
		_, err = fmt.Fprintf(a.out, "%s: %s, %s: nothing is wrong\n", given,
			plural(len(m.read.Tools), "Tool"), plural(len(m.read.Tokens()), "instance"))
	}
	return err
}

func (a *app) printProblems(problems diag.Problems) error {
	list := make([]checked, len(problems))
	for n, p := range problems {
		list[n] = checked(p)
	}
	return writeJSON(a.out, list)
}
