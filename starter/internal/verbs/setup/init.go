package setup

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"processidea/starter/internal/app"
	"processidea/starter/internal/exit"
	"processidea/starter/internal/print"
	"processidea/starter/internal/scaffold"
)

// Init writes the files of a user's first process.
func Init(a *app.App) *cobra.Command {
	var checkoutFolder, tableFile string
	var withoutGo, usesHTTP bool
	c := app.NewCommand("init [NAME]", "Write a first process of your own: an Idea file, a Tool in Go, a test",
		`Write a first process of your own into a new folder: its Idea file, which your editor
completes and checks, the replies of a scripted LLM, and a README. A person approves
one of its Calls.

With a go command and the checkout of Process Idea that this program was built from, it is
a Go program too, with a Tool of its own and a test on the real engine. Nothing is fetched.

With --http the Tools are HTTP requests, and each row of a table is an instance. --csv
names your table: its columns become the Tools' parameters, and its name is the default
NAME.`,
		"  starter init desk\n  starter init desk --without-go\n  starter init invoices --http --csv rows.csv",
		func(_ context.Context, args []string) error {
			folderName := strings.TrimSuffix(filepath.Base(tableFile), filepath.Ext(tableFile))
			if len(args) > 0 {
				folderName = args[0]
			}
			switch {
			case tableFile == "" && len(args) == 0:
				return exit.Usagef("init: NAME is missing; want starter init NAME")
			case tableFile != "" && !usesHTTP:
				return exit.Usagef("init: --csv needs --http")
			case usesHTTP && checkoutFolder != "":
				return exit.Usagef("init: --http and --checkout exclude each other")
			case withoutGo && checkoutFolder != "":
				return exit.Usagef("init: --without-go and --checkout exclude each other")
			}
			o := scaffold.Options{TargetFolder: folderName, ProgramName: print.ProgramName, UsesHTTP: usesHTTP,
				InstanceTableFile: tableFile}
			if !usesHTTP && !withoutGo {
				if err := findCheckout(a, &o, checkoutFolder); err != nil {
					return exit.Usagef("init %s: %w", folderName, err)
				}
			}
			files, err := scaffold.Write(o)
			if err != nil {
				return exit.Usagef("init: %w", err)
			}
			return printWrittenFiles(a, o, files)
		})
	f := c.Flags()
	f.BoolVar(&withoutGo, "without-go", false, "no Go program, whatever is there")
	f.BoolVar(&usesHTTP, "http", false, "Tools over HTTP and a table of instances, without a Go program")
	f.StringVar(&tableFile, "csv", "", "`file` with the instances, for --http (default three that are made up)")
	f.StringVar(&checkoutFolder, "checkout", "",
		"`folder` of a checkout of Process Idea for the Go program (default: the one of this program)")
	return c
}

// findCheckout finds the checkout for a Go program. A named one must exist; without one there is just no Go program.
func findCheckout(a *app.App, o *scaffold.Options, folder string) (err error) {
	if folder != "" {
		if o.CheckoutFolder, err = filepath.Abs(folder); err == nil {
			err = scaffold.CheckCheckout(o.CheckoutFolder)
		}
		return err
	}
	if o.CheckoutFolder, err = scaffold.FindCheckout(); err != nil {
		a.Note("init %s: without a Go program: %v", o.TargetFolder, err)
	}
	return nil
}

func printWrittenFiles(a *app.App, o scaffold.Options, files []scaffold.File) error {
	if a.WritesJSON {
		fileNames := []string{}
		for _, f := range files {
			fileNames = append(fileNames, f.Name)
		}
		return a.PrintJSON(map[string]any{"folder": o.TargetFolder, "files": fileNames, "go": o.CheckoutFolder != ""})
	}
	var text strings.Builder
	for _, f := range files {
		fmt.Fprintf(&text, "%-14s %s\n", f.Name, f.Description)
	}
	runCommand, testCommand := o.ProgramName+" run .", ""
	switch {
	case o.UsesHTTP: // its servers must be named first
		runCommand = o.ProgramName + " simulate ."
	case o.CheckoutFolder != "":
		runCommand, testCommand = "go run . run .", "; go test ."
	}
	fmt.Fprintf(&text, "\nNow: cd %s; %s%s\n", o.TargetFolder, runCommand, testCommand)
	return a.Print(text.String())
}
