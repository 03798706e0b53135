package print

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"processidea/client/ideafiles"
	"processidea/model/ideafile"
	"processidea/model/jsonval"
	"processidea/model/loop"
)

// WriteResult prints a Result for people. Tables are no wider than the terminal.
func WriteResult(w io.Writer, r loop.ProcessResult, naming InstanceNaming) error {
	var b strings.Builder
	Fprintf(&b, "%s: %s\n", r.ProcessID, resultHeadline(r))
	if r.Error != nil {
		Fprintf(&b, "%s: %s\n", r.Error.Code, r.Error.Message)
	}
	for _, h := range r.HoldUps {
		Fprintf(&b, "%s\n", h)
		if h.Remedy != "" {
			Fprintf(&b, "  %s\n", h.Remedy)
		}
	}
	for _, line := range r.Quality.Lines() {
		b.WriteString(line + "\n")
	}
	for _, note := range r.ToolNotes {
		Fprintf(&b, "note: %s\n", FitWidth(note, maxToolNoteChars))
	}
	if r.Output != nil {
		fmt.Fprintf(&b, "\noutput\n%s\n", firstLines(IndentJSON(r.Output), maxOutputLines))
	}
	printUnwrittenResults(&b, r.UnwrittenResults)
	printStepCounts(&b, r.InstructionStepCounts)
	printInstances(&b, r.Instances, naming, TerminalWidth(w))
	printFailures(&b, r)
	_, err := io.WriteString(w, b.String())
	return err
}

const (
	maxUnwrittenResultsShown = 10
	maxToolNoteChars         = 300
)

// printUnwrittenResults prints the results of Calls that State did not take.
func printUnwrittenResults(b *strings.Builder, list []loop.UnwrittenResult) {
	for n, w := range list {
		if n == maxUnwrittenResultsShown {
			fmt.Fprintf(b, "not written: %d more: --json shows all\n", len(list)-n)
			return
		}
		instancesText := ""
		if len(w.Instances) > 0 && w.Instances[0] != "" {
			instancesText = " in " + Compact(strings.Join(w.Instances, ", "), maxCellWidth)
		}
		Fprintf(b, "not written: what call %s gave for %s%s, as %s had written there\n", w.CallID,
			w.Path, instancesText, w.EarlierAuthor)
	}
}

// printStepCounts prints in how many instances each step of the instructions is fulfilled.
func printStepCounts(b *strings.Builder, counts ideafile.StepCounts) {
	if len(counts) > 0 {
		b.WriteString("\ninstructions\n")
	}
	for _, c := range counts {
		Fprintf(b, "  %s\n", c.String())
	}
}

// printFailures prints why Calls did not succeed: each reason once, with the number and names of its Calls.
func printFailures(b *strings.Builder, r loop.ProcessResult) {
	if len(r.Failures) == 0 {
		return
	}
	b.WriteString("\nwhy calls did not succeed\n")
	unlistedFailureCount := r.Calls.Failed + r.Calls.Blocked + r.Calls.Rejected
	for _, f := range r.Failures {
		unlistedFailureCount -= f.CallCount
		Fprintf(b, "  %s %s\n", f.Status, f)
	}
	if unlistedFailureCount > 0 {
		fmt.Fprintf(b, "  (%s more, for other reasons)\n", Plural(unlistedFailureCount, "Call"))
	}
}

func resultHeadline(r loop.ProcessResult) string {
	status := string(r.Status)
	if r.Simulation != nil {
		status += " (simulated)"
	}
	parts := []string{status, Plural(r.IdeaCount, "Idea"), Plural(r.RequestCount, "Request")}
	if calls := callCountsText(r.Calls); calls != "" {
		parts = append(parts, "calls: "+calls)
	}
	if r.Usage.Total() > 0 {
		parts = append(parts, r.Usage.String())
	}
	return strings.Join(parts, " · ")
}

// Plural is a number of things: "1 Call", "2 Calls".
func Plural(n int, noun string) string {
	if n != 1 {
		noun += "s"
	}
	return fmt.Sprintf("%d %s", n, noun)
}

// PluralWithVerb is Plural with its verb: "1 Call is", "2 Calls are".
func PluralWithVerb(n int, noun string) string {
	if n == 1 {
		return Plural(n, noun) + " is"
	}
	return Plural(n, noun) + " are"
}

// printInstances prints what became of each instance. width is the terminal's, or 0 without a terminal.
func printInstances(b *strings.Builder, instances map[string]loop.InstanceResult, naming InstanceNaming, width int) {
	tokens := ideafiles.SortedInstanceTokens(instances)
	switch len(tokens) {
	case 0:
	case 1:
		printInstance(b, naming, tokens[0], instances[tokens[0]], width)
	default:
		valueCounts := countStateValues(instances)
		b.WriteByte('\n')
		b.WriteString(Table(instanceTableColumns(tokens, instances, naming, valueCounts),
			cmp.Or(width, defaultTableWidth)))
		printValueCounts(b, valueCounts)
	}
}

const maxOutputLines = 40 // lines

func firstLines(text string, maxLines int) string {
	lines := strings.Split(text, "\n")
	if len(lines) <= maxLines {
		return text
	}
	return strings.Join(lines[:maxLines], "\n") + fmt.Sprintf("\n(%s more: --json shows all)",
		Plural(len(lines)-maxLines, "line"))
}

const (
	// MaxValueWidth bounds a value on a line of its own, in characters.
	MaxValueWidth     = 100
	maxCellWidth      = 44
	defaultTableWidth = 160 // where there is no terminal
)

// TableWidth is the maximum line length, in characters, of a table that is written to w.
func TableWidth(w io.Writer) int {
	if width := TerminalWidth(w); width > 0 {
		return width
	}
	return defaultTableWidth
}

// printInstance prints the only instance, with one line for each key of its State. If width is not 0, lines are no
// longer than it.
func printInstance(b *strings.Builder, naming InstanceNaming, token string, i loop.InstanceResult, width int) {
	Fprintf(b, "\n%s\n", strings.TrimSpace(naming.name(token)+" "+i.Standing()))
	state := jsonval.AsObject(i.State)
	if len(state) == 0 {
		return
	}
	sortedKeys := jsonval.SortedKeys(state)
	keys, values := []string{}, []string{}
	for _, key := range sortedKeys {
		keys = append(keys, "  "+Compact(key, maxCellWidth))
	}
	valueWidth := MaxValueWidth
	if width > 0 {
		valueWidth = max(width-columnWidthWithGap(keys), minValueWidth)
	}
	for _, key := range sortedKeys {
		values = append(values, Compact(naming.formatStateValue(key, state[key]), valueWidth))
	}
	WriteColumns(b, [][]string{keys, values})
}

// instanceTableColumns makes a table of many instances, one line each: name, status, cost, input, and the keys of
// State.
func instanceTableColumns(tokens []string, instances map[string]loop.InstanceResult, naming InstanceNaming,
	valueCounts []pathValueCounts) [][]string {
	nameColumn, statusColumn, costColumn, inputColumn := []string{"instance"}, []string{"status"}, []string{"cost"},
		[]string{"input"}
	stateKeys, hasInput, hasCost := map[string]bool{}, false, false
	for _, token := range tokens {
		for key := range jsonval.AsObject(instances[token].State) {
			stateKeys[key] = true
		}
		input, inputText := naming.inputByInstanceToken[token], ""
		if input != nil {
			hasInput, inputText = true, tableCell(naming.formatInput(input))
		}
		nameColumn = append(nameColumn, Compact(naming.name(token), maxCellWidth))
		statusColumn = append(statusColumn, instances[token].Standing())
		costColumn, hasCost = append(costColumn, instances[token].Cost.String()), hasCost || instances[token].Cost > 0
		inputColumn = append(inputColumn, inputText)
	}
	columns := [][]string{nameColumn, statusColumn}
	if hasCost {
		columns = append(columns, costColumn)
	}
	if hasInput {
		columns = append(columns, inputColumn)
	}
	for _, key := range putCountedKeysFirst(jsonval.SortedKeys(stateKeys), valueCounts) {
		columns = append(columns, stateColumn(key, tokens, instances, naming))
	}
	return columns
}

// minValueWidth is the width in characters below which a value is not worth showing.
const minValueWidth = 12

// Table formats as many columns as fit into width. The last column shown may be cut.
func Table(columns [][]string, width int) string {
	var b strings.Builder
	remainingWidth := width + columnGap
	for n, c := range columns {
		if cellWidth := remainingWidth - columnGap; columnWidthWithGap(c) > remainingWidth {
			if cellWidth < minValueWidth {
				WriteColumns(&b, columns[:n])
				fmt.Fprintf(&b, "(%s more: --json shows all)\n", Plural(len(columns)-n, "key"))
				return b.String()
			}
			for i := range c {
				c[i] = FitWidth(c[i], cellWidth)
			}
		}
		remainingWidth -= columnWidthWithGap(c)
	}
	WriteColumns(&b, columns)
	return b.String()
}

// WriteSplitTable prints all columns. If one table would be too wide, it prints several tables under each other, each
// beginning with the first column.
func WriteSplitTable(b *strings.Builder, columns [][]string, width int) {
	firstColumn, remainingColumns := columns[0], columns[1:]
	for {
		block, remainingWidth := [][]string{firstColumn}, width-columnWidthWithGap(firstColumn)
		for len(remainingColumns) > 0 && (len(block) == 1 ||
			columnWidthWithGap(remainingColumns[0]) <= remainingWidth) {
			c := slices.Clone(remainingColumns[0])
			for i := range c {
				c[i] = FitWidth(c[i], max(remainingWidth-columnGap, minValueWidth))
			}
			block, remainingWidth, remainingColumns = append(block, c), remainingWidth-columnWidthWithGap(c),
				remainingColumns[1:]
		}
		WriteColumns(b, block)
		if len(remainingColumns) == 0 {
			return
		}
		b.WriteByte('\n')
	}
}

func stateColumn(key string, tokens []string, instances map[string]loop.InstanceResult,
	naming InstanceNaming) []string {
	c := []string{Compact(key, maxCellWidth)}
	for _, token := range tokens {
		state := jsonval.AsObject(instances[token].State)
		cellText := ""
		if v, ok := state[key]; ok {
			cellText = tableCell(naming.formatStateValue(key, v))
		}
		c = append(c, cellText)
	}
	return c
}

func columnWidthWithGap(column []string) (width int) {
	for _, cell := range column {
		width = max(width, len([]rune(cell)))
	}
	return width + columnGap
}

// columnGap is the space between columns.
const columnGap = 2

// WriteColumns aligns columns of equal length.
func WriteColumns(b *strings.Builder, columns [][]string) {
	lines := make([]string, len(columns[0]))
	for _, c := range columns {
		width := columnWidthWithGap(c)
		for n, cell := range c {
			lines[n] += cell + strings.Repeat(" ", width-len([]rune(cell)))
		}
	}
	for _, line := range lines {
		b.WriteString(strings.TrimRight(line, " ") + "\n")
	}
}
