package print

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"sort"
	"strings"

	"processidea/client/ideafiles"
	"processidea/model/loop"
)

// Result prints a Result for people.
func Result(w io.Writer, r loop.Result) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %s\n", Printable(r.Process), headline(r))
	if r.Error != nil {
		fmt.Fprintf(&b, "%s: %s\n", r.Error.Code, Printable(r.Error.Message))
	}
	if r.Output != nil {
		fmt.Fprintf(&b, "\noutput\n%s\n", firstLines(Indent(r.Output), longestOutput))
	}
	printInstances(&b, r.Instances)
	_, err := io.WriteString(w, b.String())
	return err
}

func headline(r loop.Result) string {
	status := string(r.Status)
	if r.Simulated != nil {
		status += " (simulated)"
	}
	parts := []string{status, Plural(r.Ideas, "Idea"), Plural(r.Requests, "Request")}
	if calls := counts(r.Calls); calls != "" {
		parts = append(parts, "calls: "+calls)
	}
	if u := r.Usage; u.PromptTokens+u.CompletionTokens > 0 {
		parts = append(parts, fmt.Sprintf("tokens: %d in, %d out", u.PromptTokens, u.CompletionTokens))
	}
	return strings.Join(parts, " · ")
}

// Plural is a number of things: "1 Call", "2 Calls".
func Plural(n int, what string) string {
	if n != 1 {
		what += "s"
	}
	return fmt.Sprintf("%d %s", n, what)
}

// PluralIs is Plural with its verb: "1 Call is", "2 Calls are".
func PluralIs(n int, what string) string {
	if n == 1 {
		return Plural(n, what) + " is"
	}
	return Plural(n, what) + " are"
}

func printInstances(b *strings.Builder, instances map[string]loop.InstanceResult) {
	tokens := slices.Collect(maps.Keys(instances))
	sort.Slice(tokens, func(i, j int) bool { return ideafiles.TokenLess(tokens[i], tokens[j]) })
	switch len(tokens) {
	case 0:
	case 1:
		printInstance(b, tokens[0], instances[tokens[0]])
	default:
		all := takeCensus(instances)
		printTable(b, tokens, instances, all)
		printSummary(b, all)
	}
}

const longestOutput = 40 // lines

func firstLines(text string, most int) string {
	lines := strings.Split(text, "\n")
	if len(lines) <= most {
		return text
	}
	return strings.Join(lines[:most], "\n") + fmt.Sprintf("\n(%s more: --json shows all)", Plural(len(lines)-most, "line"))
}

const (
	// WidestValue is the most characters of a value that stands on a line of its own.
	WidestValue = 100
	widestCell  = 44
	widestTable = 160
)

// printInstance prints the only instance, a line for each key of its State.
func printInstance(b *strings.Builder, token string, i loop.InstanceResult) {
	fmt.Fprintf(b, "\n%s\n", strings.TrimSpace(Printable(token)+" "+string(i.Status)))
	state, _ := i.State.(map[string]any)
	if len(state) == 0 {
		return
	}
	keys, values := []string{}, []string{}
	for _, key := range slices.Sorted(maps.Keys(state)) {
		keys = append(keys, "  "+FitWidth(Printable(key), widestCell))
		values = append(values, Compact(state[key], WidestValue))
	}
	Columns(b, [][]string{keys, values})
}

// printTable prints many instances, a line each, with the keys of their States as columns, as many as there is room for.
func printTable(b *strings.Builder, tokens []string, instances map[string]loop.InstanceResult, all []census) {
	keys := map[string]bool{}
	for _, token := range tokens {
		state, _ := instances[token].State.(map[string]any)
		for key := range state {
			keys[key] = true
		}
	}
	columns := [][]string{{"instance"}, {"status"}}
	for _, token := range tokens {
		columns[0] = append(columns[0], FitWidth(Printable(token), widestCell))
		columns[1] = append(columns[1], string(instances[token].Status))
	}
	width, left := widthOf(columns[0])+widthOf(columns[1]), 0
	for _, key := range columnOrder(slices.Sorted(maps.Keys(keys)), all) {
		c := column(key, tokens, instances)
		if width += widthOf(c); width > widestTable {
			left++
			continue
		}
		columns = append(columns, c)
	}
	b.WriteByte('\n')
	Columns(b, columns)
	if left > 0 {
		fmt.Fprintf(b, "(%s more: --json shows all)\n", Plural(left, "key"))
	}
}

func column(key string, tokens []string, instances map[string]loop.InstanceResult) []string {
	c := []string{FitWidth(Printable(key), widestCell)}
	for _, token := range tokens {
		state, _ := instances[token].State.(map[string]any)
		text := ""
		if v, ok := state[key]; ok {
			text = tableCell(v, widestCell)
		}
		c = append(c, text)
	}
	return c
}

func widthOf(column []string) (width int) {
	for _, cell := range column {
		width = max(width, len([]rune(cell)))
	}
	return width + 2
}

// Columns aligns columns of equal length.
func Columns(b *strings.Builder, columns [][]string) {
	lines := make([]string, len(columns[0]))
	for _, c := range columns {
		width := widthOf(c)
		for n, cell := range c {
			lines[n] += cell + strings.Repeat(" ", width-len([]rune(cell)))
		}
	}
	for _, line := range lines {
		b.WriteString(strings.TrimRight(line, " ") + "\n")
	}
}
