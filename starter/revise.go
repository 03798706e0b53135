package main

import (
	"context"

	"github.com/spf13/cobra"

	"processidea/model/diag"
	"processidea/model/loop"
)

func (a *app) reviseVerb() *cobra.Command {
	var s steering
	file := ""
	c := &cobra.Command{
		Use:   "revise ID --file FILE",
		Short: "Correct a process: new values, inputs, instructions, Plan or limits",
		Long: `Correct a process. The file, JSON or YAML, holds messages as an Idea's context does:
a list, or an object with "context", and "limits" if wanted. They come after all others:
a state message sets values of one instance, or of all; input, data, text, instruction
and plan messages are seen from the next Request on. The correction makes a new Idea;
the old one stays as it is.`,
		Example: `  starter revise refunds --file correction.json --reason "wrong price list"`,
		Args:    cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			return a.revise(c.Context(), args[0], file, s)
		},
	}
	s.flags(c)
	c.Flags().StringVar(&file, "file", "", "the `file` with the correction")
	return c
}

func (a *app) revise(ctx context.Context, process, file string, st steering) error {
	payload, err := correction(file, st.payload())
	if err != nil {
		return err
	}
	if _, err := loop.ReadSteering(loop.SteerRevise, payload); err != nil {
		return misuse("read %s: %w", file, err)
	}
	return a.visiting(ctx, func(s *session) error {
		light, err := offload(ctx, s.values, payload)
		if err != nil {
			return err
		}
		why, err := s.steer(ctx, process, loop.SteerRevise, light)
		return a.told(process, loop.SteerRevise, "", why, err)
	})
}

// correction reads a file with messages, and limits beside them or where an Idea has them.
func correction(file string, payload map[string]any) (map[string]any, error) {
	if file == "" {
		return nil, misuse("revise: --file is missing")
	}
	data, err := readFile(file)
	if err != nil {
		return nil, err
	}
	v, problem := decodeFile(file, data)
	if problem != nil {
		return nil, &invalid{file, diag.Problems{*problem}}
	}
	switch v := v.(type) {
	case []any:
		payload["context"] = v
	case map[string]any:
		for k, part := range v {
			config, isObject := part.(map[string]any)
			if limits, ok := config["limits"]; k == "config" && isObject && ok && len(config) == 1 {
				k, part = "limits", limits
			}
			payload[k] = part
		}
	default:
		return nil, misuse("read %s: want a list of messages, or an object with context", file)
	}
	return payload, nil
}
