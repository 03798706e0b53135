package archive

import (
	"github.com/spf13/cobra"

	"processidea/model/jsonval"
	"processidea/starter/internal/print"
)

// valueFormat is how values are printed: one per line, cut to the line's width unless whole is set.
type valueFormat struct{ whole bool }

func (v *valueFormat) addFlag(c *cobra.Command) {
	c.Flags().BoolVar(&v.whole, "whole", false, "print values whole, not cut to the width of a line")
}

// text is a value as JSON on one line.
func (v valueFormat) text(of any) string { return v.fitWidth(jsonval.EncodeToString(of)) }

func (v valueFormat) fitWidth(text string) string {
	if text = print.Printable(text); v.whole {
		return text
	}
	return print.FitWidth(text, print.MaxValueWidth)
}
