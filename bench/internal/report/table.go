package report

import (
	"fmt"
	"io"
	"strconv"
	"strings"
)

// PrintTable writes the figures as a Markdown table.
func PrintTable(w io.Writer, figures []Figure) {
	fmt.Fprintln(w, "| work | figure | unit | median | p10 | p90 | plain Go | ratio | limit | met |")
	fmt.Fprintln(w, "| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |")
	for _, f := range figures {
		if f.isSubfigure() && f.MeasuredSpread.Median < 0.1 {
			continue
		}
		plain, ratio := "", ""
		if f.PlainGoSpread != nil {
			plain, ratio = formatNumber(f.PlainGoSpread.Median), formatNumber(f.Ratio)
		}
		fmt.Fprintf(w, "| %s | %s | %s | %s | %s | %s | %s | %s | %s | %s |\n", f.Workload, f.Name, f.Unit,
			formatNumber(f.MeasuredSpread.Median),
			formatNumber(f.MeasuredSpread.P10), formatNumber(f.MeasuredSpread.P90), plain, ratio, f.limitText(),
			f.metText())
	}
}

// isSubfigure reports whether the figure is a part of another figure.
func (f Figure) isSubfigure() bool { return strings.Count(f.Name, ": ") > 1 }

func (f Figure) limitText() string {
	switch {
	case f.PlainRatioLimit > 0:
		return formatNumber(f.PlainRatioLimit) + " × plain"
	case f.LimitDescription != "":
		return f.LimitDescription
	case f.Limit > 0:
		return formatNumber(f.Limit)
	}
	return ""
}

func (f Figure) metText() string {
	if f.MeetsLimit == nil {
		return ""
	}
	return yesOrNo(*f.MeetsLimit)
}

func yesOrNo(met bool) string {
	if met {
		return "yes"
	}
	return "no"
}

// formatNumber formats whole and large values without decimals, and others with more decimals the smaller they are.
func formatNumber(v float64) string {
	switch {
	case v >= 1000 || v == float64(int64(v)):
		return strconv.FormatFloat(v, 'f', 0, 64)
	case v >= 10:
		return strconv.FormatFloat(v, 'f', 1, 64)
	case v >= 0.1:
		return strconv.FormatFloat(v, 'f', 3, 64)
	}
	return strconv.FormatFloat(v, 'g', 2, 64)
}
