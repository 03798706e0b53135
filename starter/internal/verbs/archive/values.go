package archive

import (
	"github.com/spf13/cobra"

	"processidea/model/jsonval"
	"processidea/starter/internal/print"
)

// valueFormat is how values are printed: one per line, cut to the line's width unless whole is set.
type valueFormat struct{ isWhole bool }

func (v *valueFormat) addFlag(c *cobra.Command) {
	c.Flags().BoolVar(&v.isWhole, "whole", false, "print values whole, not cut to the width of a line")
}

// text is a value as JSON on one line.
func (v valueFormat) text(value any) string { return v.fitWidth(jsonval.EncodeToString(value)) }

func (v valueFormat) fitWidth(text string) string {
	if text = print.Printable(text); v.isWhole {
		return text
	}
	return print.FitWidth(text, print.MaxValueWidth)
}
