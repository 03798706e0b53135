package archive

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"processidea/client"
	"processidea/model/diag"
	"processidea/model/ideafile/price"
	"processidea/model/jsonval"
	"processidea/starter/internal/app"
	"processidea/starter/internal/print"
	"processidea/store/chain"
)

// History lists the Ideas of a process.
func History(a *app.App) *cobra.Command {
	return app.NewCommand("history ID", "List the Ideas of a process",
		`List the Ideas of a process's chain: when each was made, by which Request, and how
many Calls its solution, writes and decisions its log hold. It is read from the
store; no server is needed.`,
		`  starter history refund-17
  starter history refund-17 --json`,
		func(ctx context.Context, args []string) error { return runHistory(ctx, a, args[0]) })
}

func runHistory(ctx context.Context, a *app.App, id string) error {
	err := printHistory(ctx, a, id)
	if !errors.Is(err, client.ErrNotFound) || !isProcessKnown(ctx, a, id) {
		return err
	}
	return a.Show([]chain.Link{},
		"no Idea yet: one is sealed when a Request has ended, or when the process comes to rest\n")
}

// isProcessKnown reports whether a server answers and knows the process.
func isProcessKnown(ctx context.Context, a *app.App, id string) (isFound bool) {
	ctx, cancel := context.WithTimeout(ctx, serverAnswerTimeout)
	defer cancel()
	_ = a.WithProcess(ctx, id, func(*client.Process) error {
		isFound = true
		return nil
	})
	return isFound
}

func printHistory(ctx context.Context, a *app.App, id string) error {
	return withArchiveNotingHoldUps(ctx, a, id, 0, func(archive *client.Archive) error {
		links, err := archive.Chain(id).Ideas(ctx)
		if err != nil {
			return err
		}
		undoingProcessIDs, err := archive.Chain(id).UndoingProcessIDs(ctx)
		if err != nil {
			return err
		}
		latestLink := links[len(links)-1]
		ageText := fmt.Sprintf("Idea %d, the latest, was %s\n", latestLink.IdeaNumber, sealedText(latestLink.Created))
		notesText := forgottenIdeasText(latestLink.Forgotten) + undoesText(links[0].Undoes) +
			originText(links[0].ForkOrigin) +
			simulationText(links[0].Simulated) + undoneByText(undoingProcessIDs)
		return a.Show(links, notesText+historyTable(links, print.TableWidth(a.Out))+ageText)
	})
}

// undoesText says which process this process takes back, or "" if none.
func undoesText(undoesMeta any) string {
	meta, ok := undoesMeta.(jsonval.Object)
	if !ok {
		return ""
	}
	return print.Printable(fmt.Sprintf("it takes back what %s did, for %s: %s", jsonval.AsText(meta["process"]),
		jsonval.AsText(meta["by"]),
		jsonval.AsText(meta["reason"]))) + "\n"
}

// undoneByText names the processes that take a process back, or "" if there are none.
func undoneByText(undoingProcessIDs []string) string {
	if len(undoingProcessIDs) == 0 {
		return ""
	}
	return print.Printable("it is undone by "+diag.SummarizeNames(undoingProcessIDs)) + "\n"
}

// originText says from which Idea a process was forked, or "" if it was not forked.
func originText(origin any) string {
	o, ok := origin.(jsonval.Object)
	if !ok {
		return ""
	}
	return fmt.Sprintf("forked from Idea %s of %s, %s\n",
		print.OneLineJSON(o["at"]), print.Compact(o["process"], print.MaxValueWidth),
		print.Compact(jsonval.AsText(o["digest"]), shortDigestChars))
}

// simulationText marks a simulated process. It is "" for any other.
func simulationText(simulation any) string {
	if simulation == nil || simulation == false {
		return ""
	}
	return "simulated: no Tool ran, and its States and output are made up\n"
}

// llmNameText names the LLM that answered the Request of an Idea.
func llmNameText(l chain.Link) string {
	llmUsage := jsonval.AsObject(l.LLM)
	if l.Request == 0 || llmUsage == nil {
		return ""
	}
	name := cmp.Or(jsonval.AsText(llmUsage["served"]), jsonval.AsText(llmUsage["model"]))
	return print.Compact(name, maxLLMNameChars)
}

// costText is the cost of an Idea's Requests, or "" if they have no price.
func costText(l chain.Link) string {
	llmUsage := jsonval.AsObject(l.LLM)
	var cost price.Money
	if n, ok := llmUsage["cost"].(json.Number); !ok || cost.UnmarshalJSON([]byte(n)) != nil {
		return ""
	}
	return cost.String()
}

const maxLLMNameChars = 30 // characters

const shortDigestChars = 12 // characters

func historyTable(links []chain.Link, width int) string {
	columns := [][]string{{"idea"}, {"created"}, {"request"}, {"llm"}, {"cost"}, {"instances"}, {"calls"}, {"writes"},
		{"decisions"}, {"digest"}}
	for _, l := range links {
		requestText := ""
		if l.Request > 0 {
			requestText = strconv.Itoa(l.Request)
		}
		for n, cell := range []string{
			strconv.Itoa(l.IdeaNumber), l.Created.Local().Format(time.DateTime), requestText, llmNameText(l),
			costText(l),
			strconv.Itoa(l.Counts.Instances),
			strconv.Itoa(l.Counts.Calls), strconv.Itoa(l.Counts.Writes), strconv.Itoa(l.Counts.Decisions),
			print.FitWidth(l.Digest, shortDigestChars),
		} {
			columns[n] = append(columns[n], cell)
		}
	}
	const costColumnIndex = 4
	if !slices.ContainsFunc(columns[costColumnIndex][1:], func(cell string) bool { return cell != "" }) {
		columns = slices.Delete(columns, costColumnIndex, costColumnIndex+1)
	}
	return print.Table(columns, width)
}
