package flags

import (
	"errors"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// SetArgsCollectingErrors makes a command read a command line. If that is wrong, the flag error function of the command
// that it names gets all errors in its flags and arguments, joined. pflag itself stops at the first.
func SetArgsCollectingErrors(root *cobra.Command, args []string) {
	root.SetArgs(args)
	_, args, _ = root.Find(args) // without the names of the commands
	var wrapAll func(*cobra.Command)
	wrapAll = func(c *cobra.Command) {
		for _, child := range c.Commands() {
			wrapAll(child)
		}
		previousErrorFunc := c.FlagErrorFunc()
		c.SetFlagErrorFunc(func(c *cobra.Command, _ error) error {
			return previousErrorFunc(c,
				collectFlagErrors(c, args))
		})
	}
	wrapAll(root)
}

// collectFlagErrors returns all errors of a command line, joined. It sets flags only to find them: the command will not
// run.
func collectFlagErrors(c *cobra.Command, args []string) error {
	var errs []error
	isAdded := map[string]bool{}
	addError := func(err error) {
		if err != nil && !isAdded[err.Error()] {
			isAdded[err.Error()] = true
			errs = append(errs, err)
		}
	}
	f, isUnknownFlag := c.Flags(), map[string]bool{}
	for {
		err := f.ParseAll(args, func(flag *pflag.Flag, text string) error {
			if !isUnknownFlag[flag.Name] {
				addError(f.Set(flag.Name, text))
			}
			return nil
		})
		addError(err)
		var unknownFlagErr *pflag.NotExistError
		if !errors.As(err, &unknownFlagErr) {
			if err == nil && f.NArg() == 0 { // an argument may be the value of an unknown flag
				addError(c.ValidateArgs(nil))
			}
			return errors.Join(errs...)
		}
		name, shorthand := unknownFlagErr.GetSpecifiedName(), ""
		if unknownFlagErr.GetSpecifiedShortnames() != "" {
			name, shorthand = "-"+name, name
		}
		isUnknownFlag[name] = true
		f.BoolP(name, shorthand, false, "") // so that the next pass gets beyond it
	}
}
