package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"processidea/model/harden"
	"processidea/model/ideafile"
	"processidea/model/jsonval"
	"processidea/store/chain"
)

func (a *app) hardenVerb() *cobra.Command {
	file, template := "", false
	c := &cobra.Command{
		Use:   "harden ID...",
		Short: "Make a Plan that runs with no LLM of what finished processes have in common",
		Long: `Make a Plan that runs with no LLM of what finished processes have in common: an Idea
file. Their chains are read from the store; no server is needed. What could not be
generalised is named on standard error with the instances it differs in, and is left out
of the Plan, which then guides an LLM instead of running by itself. The file begins as the
first process did; --template leaves its instances out, for "run FILE --instances ROWS".`,
		Example: `  starter harden moderation-1 moderation-2 -o hardened.json
  starter harden moderation-1 --template > hardened.json`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			return a.harden(c.Context(), args, file, template)
		},
	}
	c.Flags().StringVarP(&file, "output", "o", "", "`file` to write (default standard output)")
	c.Flags().BoolVar(&template, "template", false, "leave out what the first process began with")
	return c
}

// harden makes one Idea of finished processes.
func (a *app) harden(ctx context.Context, ids []string, file string, template bool) error {
	p, err := a.place()
	if err != nil {
		return err
	}
	var stories []harden.FinishedRun
	err = a.read(ctx, func(c *archive) error {
		for _, id := range ids {
			s, err := c.story(ctx, id)
			if err != nil {
				return err
			}
			stories = append(stories, s)
		}
		return nil
	})
	if err != nil {
		return err
	}
	made, err := harden.Harden(stories, boundIn(p, stories[0]), template)
	if err != nil {
		return &exit{exitUsage, err}
	}
	return a.printHardened(made, file)
}

// story reads the whole chain of a process.
func (c *archive) story(ctx context.Context, id string) (harden.FinishedRun, error) {
	s := harden.FinishedRun{Process: id}
	last, err := c.length(ctx, "harden", id)
	for at := 1; at <= last && err == nil; at++ {
		var idea map[string]any
		if idea, err = c.Load(ctx, id, at); err == nil {
			s.Ideas = append(s.Ideas, idea)
		}
	}
	if err == nil {
		s.Log, err = c.Log(ctx, id)
	}
	if errors.Is(err, chain.ErrNoIdea) {
		err = &exit{exitUsage, err}
	}
	return s, err
}

// boundIn says what runs the Tools of a process, as far as it is known here.
func boundIn(p place, s harden.FinishedRun) map[string]ideafile.Binding {
	idea, _ := ideafile.ReadIdea(s.Ideas[len(s.Ideas)-1])
	return knownTools(p).bind(idea).Bindings
}

// printHardened writes the file, and says what is not in it.
func (a *app) printHardened(made *harden.Result, file string) error {
	for _, text := range made.Notes {
		a.note("harden: %s", text)
	}
	for _, p := range made.NotGeneralized {
		a.note("harden: not generalised: %s", p)
	}
	if n := len(made.NotGeneralized); n > 0 {
		a.note("harden: %s not generalised: the Plan is not optimal, and guides the LLM", isAre(n, "thing"))
	}
	text := indent(made.Idea) + "\n"
	if a.json {
		text = string(jsonval.Encode(jsonval.Normal(made))) + "\n"
	}
	if file == "" {
		_, err := io.Copy(a.out, strings.NewReader(text))
		return err
	}
	return writeFile(file, func(w io.Writer) error {
		_, err := fmt.Fprint(w, text)
		return err
	})
}
