// Package arguments derives a verb's arguments from its usage line, `blame ID PATH`: it names missing ones, and
// completes them in a shell.
package arguments

import (
	"regexp"
	"strings"

	"github.com/spf13/cobra"

	"processidea/starter/internal/app"
	"processidea/starter/internal/exit"
)

// argument is one word of a usage line: ID, [CALL], FILE|FOLDER, or ID... for one or more.
type argument struct {
	name                   string
	isOptional, isRepeated bool
}

var argumentPattern = regexp.MustCompile(`^\[?([A-Z][A-Z|]*)\]?(\.\.\.)?$`)

// readUsage reads the arguments of a usage line, up to its first flag.
func readUsage(use string) (usageArguments []argument) {
	for _, text := range strings.Fields(use)[1:] {
		m := argumentPattern.FindStringSubmatch(text)
		if m == nil {
			break
		}
		usageArguments = append(usageArguments, argument{name: m[1], isOptional: text[0] == '[',
			isRepeated: m[2] != ""})
	}
	return usageArguments
}

// InstallArgumentHandling makes a command and all its subcommands check and complete their arguments by their usage
// lines.
func InstallArgumentHandling(a *app.App, c *cobra.Command) {
	for _, sub := range c.Commands() {
		InstallArgumentHandling(a, sub)
	}
	if c.RunE == nil {
		return
	}
	if c.HasSubCommands() { // an argument here is the misspelt name of a subcommand
		c.Args = cobra.NoArgs
		return
	}
	c.Args, c.ValidArgsFunction = argumentChecker(readUsage(c.Use)), argumentCompleter(a, readUsage(c.Use))
}

func argumentChecker(expected []argument) cobra.PositionalArgs {
	return func(c *cobra.Command, args []string) error {
		verb := strings.TrimPrefix(c.CommandPath(), c.Root().Name()+" ")
		for n, w := range expected {
			if n >= len(args) && !w.isOptional {
				return exit.Usagef("%s: %s is missing; want %s", verb, strings.ReplaceAll(w.name, "|", " or "),
					c.UseLine())
			}
			if w.isRepeated {
				return nil
			}
		}
		if len(args) > len(expected) {
			return exit.Usagef("%s: unexpected argument %q; want %s", verb, args[len(expected)], c.UseLine())
		}
		return nil
	}
}
