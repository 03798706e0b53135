package main

import (
	"context"
	"fmt"
	"path/filepath"

	"github.com/spf13/cobra"

	"processidea/model/ideafile"
	"processidea/model/loop"
	"processidea/store/chain"
)

func (a *app) addVerb() *cobra.Command {
	var s steering
	file := ""
	c := &cobra.Command{
		Use:   "add ID --instances FILE",
		Short: "Add instances to a process that is at work",
		Long: `Add instances to a process that is at work: one a row of a JSON Lines or CSV file, as
"run --instances" reads it. Rows without a name are named after those that the process
has. The new instances are in its next Request.`,
		Example: `  starter add refunds --instances late.jsonl`,
		Args:    cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			return a.add(c.Context(), args[0], file, s)
		},
	}
	s.flags(c)
	c.Flags().StringVar(&file, "instances", "", "the `file` with the rows")
	return c
}

func (a *app) add(ctx context.Context, process, file string, st steering) error {
	if file == "" {
		return misuse("add to %s: --instances is missing", process)
	}
	data, err := readFile(file)
	if err != nil {
		return err
	}
	return a.visiting(ctx, func(s *session) error {
		idea, err := s.ideaOf(ctx, process)
		if err != nil {
			return err
		}
		messages, problems := readRows(file, data, idea)
		if errs := problems.Errors(); len(errs) > 0 {
			return &invalid{filepath.Base(file), errs}
		}
		payload := st.payload()
		payload["context"] = messages
		light, err := offload(ctx, s.values, payload)
		if err != nil {
			return err
		}
		why, err := s.steer(ctx, process, loop.SteerAdd, light)
		return a.told(process, loop.SteerAdd, "", why, err)
	})
}

// ideaOf is the latest Idea of a process, whose input schema types the columns of a CSV file, with a message for each
// instance that it has by now. Before the first Request has ended there is none, and columns are texts.
func (s *session) ideaOf(ctx context.Context, process string) (*ideafile.Idea, error) {
	if _, err := s.find(ctx, process); err != nil {
		return nil, err
	}
	v, err := s.status(ctx, process)
	if err != nil {
		return nil, noServer("ask %s: no worker answers: %w", process, err)
	}
	idea := &ideafile.Idea{}
	if v.Ideas > 0 {
		source, err := chain.New(s.values).Load(ctx, process, v.Ideas)
		if err != nil {
			return nil, fmt.Errorf("read Idea %d of %s: %w", v.Ideas, process, err)
		}
		idea, _ = ideafile.ReadIdea(source)
	}
	for token := range v.Instances {
		idea.Context = append(idea.Context, ideafile.Message{Instance: token})
	}
	return idea, nil
}
