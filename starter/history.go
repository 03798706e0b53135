package main

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"processidea/store/chain"
)

func (a *app) historyVerb() *cobra.Command {
	return &cobra.Command{
		Use:   "history ID",
		Short: "List the Ideas of a process",
		Long: `List the Ideas of a process's chain: when each was made, by which Request, and how
many Calls its solution, writes and decisions its log hold. It is read from the
store; no server is needed.`,
		Example: `  starter history refund-17
  starter history refund-17 --json`,
		Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error { return a.history(c.Context(), args[0]) },
	}
}

func (a *app) history(ctx context.Context, id string) error {
	return a.read(ctx, func(c *archive) error {
		if _, err := c.length(ctx, "list Ideas of", id); err != nil {
			return err
		}
		links, err := c.List(ctx, id)
		switch {
		case err != nil:
			return err
		case a.json:
			return writeJSON(a.out, links)
		}
		_, err = fmt.Fprint(a.out, originText(links[0].Origin)+simulatedText(links[0].Simulated)+historyTable(links))
		return err
	})
}

// originText says from which Idea a process was forked; empty where it was not.
func originText(origin any) string {
	o, ok := origin.(map[string]any)
	if !ok {
		return ""
	}
	digest, _ := o["digest"].(string)
	return fmt.Sprintf("forked from Idea %s of %s, %s\n", shown(o["at"]), compact(o["process"], widestValue), clip(printable(digest), shortDigest))
}

// simulatedText says of what was simulated that it was; empty where nothing was.
func simulatedText(mark any) string {
	if mark == nil || mark == false {
		return ""
	}
	return "simulated: no Tool ran, and its States and output are made up\n"
}

const shortDigest = 12 // characters

func historyTable(links []chain.Link) string {
	columns := [][]string{{"idea"}, {"created"}, {"request"}, {"instances"}, {"calls"}, {"writes"}, {"decisions"}, {"digest"}}
	for _, l := range links {
		request := ""
		if l.Request > 0 {
			request = strconv.Itoa(l.Request)
		}
		for n, cell := range []string{
			strconv.Itoa(l.At), l.Created.Local().Format(time.DateTime), request, strconv.Itoa(l.Counts.Instances),
			strconv.Itoa(l.Counts.Calls), strconv.Itoa(l.Counts.Writes), strconv.Itoa(l.Counts.Decisions), clip(l.Digest, shortDigest),
		} {
			columns[n] = append(columns[n], cell)
		}
	}
	var b strings.Builder
	writeColumns(&b, columns)
	return b.String()
}
