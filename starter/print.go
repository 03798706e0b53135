package main

import (
	"fmt"
	"io"
	"sort"
	"strings"

	"processidea/model/loop"
)

// finish prints a Result and gives the error that stands for its exit code.
func (a *app) finish(r loop.Result) error {
	var err error
	if a.json {
		err = writeJSON(a.out, r)
	} else {
		err = printResult(a.out, r)
	}
	if err != nil {
		return fmt.Errorf("print result: %w", err)
	}
	if code := codeOf(r); code != exitDone {
		return &exit{code: code}
	}
	return nil
}

// printResult prints a Result for people.
func printResult(w io.Writer, r loop.Result) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %s\n", printable(r.Process), headline(r))
	if r.Error != nil {
		fmt.Fprintf(&b, "%s: %s\n", r.Error.Code, printable(r.Error.Message))
	}
	if r.Output != nil {
		fmt.Fprintf(&b, "\noutput\n%s\n", firstLines(indent(r.Output), longestOutput))
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
	parts := []string{status, plural(r.Ideas, "Idea"), plural(r.Requests, "Request")}
	if calls := counts(r.Calls); calls != "" {
		parts = append(parts, "calls: "+calls)
	}
	if u := r.Usage; u.PromptTokens+u.CompletionTokens > 0 {
		parts = append(parts, fmt.Sprintf("tokens: %d in, %d out", u.PromptTokens, u.CompletionTokens))
	}
	return strings.Join(parts, " · ")
}

func plural(n int, what string) string {
	if n != 1 {
		what += "s"
	}
	return fmt.Sprintf("%d %s", n, what)
}

func printInstances(b *strings.Builder, instances map[string]loop.InstanceResult) {
	tokens := make([]string, 0, len(instances))
	for token := range instances {
		tokens = append(tokens, token)
	}
	sort.Slice(tokens, func(i, j int) bool { return tokenLess(tokens[i], tokens[j]) })
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
	return strings.Join(lines[:most], "\n") + fmt.Sprintf("\n(%s more: --json shows all)", plural(len(lines)-most, "line"))
}

// tokenLess orders instances: numbered ones by number, the others after them by name.
func tokenLess(a, b string) bool {
	n, numbered := tokenNumber(a)
	m, other := tokenNumber(b)
	if numbered && other && n != m {
		return n < m
	}
	if numbered != other {
		return numbered
	}
	return a < b
}

const (
	widestValue = 100 // characters of a value that stands on a line of its own
	widestCell  = 44
	widestTable = 160
)

// printInstance prints the only instance, a line for each key of its State.
func printInstance(b *strings.Builder, token string, i loop.InstanceResult) {
	fmt.Fprintf(b, "\n%s\n", strings.TrimSpace(printable(token)+" "+string(i.Status)))
	state, _ := i.State.(map[string]any)
	if len(state) == 0 {
		return
	}
	keys, values := []string{}, []string{}
	for _, key := range sortedKeys(state) {
		keys = append(keys, "  "+clip(printable(key), widestCell))
		values = append(values, compact(state[key], widestValue))
	}
	writeColumns(b, [][]string{keys, values})
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
		columns[0] = append(columns[0], clip(printable(token), widestCell))
		columns[1] = append(columns[1], string(instances[token].Status))
	}
	width, left := widthOf(columns[0])+widthOf(columns[1]), 0
	for _, key := range columnOrder(sortedKeys(keys), all) {
		c := column(key, tokens, instances)
		if width += widthOf(c); width > widestTable {
			left++
			continue
		}
		columns = append(columns, c)
	}
	b.WriteByte('\n')
	writeColumns(b, columns)
	if left > 0 {
		fmt.Fprintf(b, "(%s more: --json shows all)\n", plural(left, "key"))
	}
}

func column(key string, tokens []string, instances map[string]loop.InstanceResult) []string {
	c := []string{clip(printable(key), widestCell)}
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

// writeColumns aligns columns of equal length.
func writeColumns(b *strings.Builder, columns [][]string) {
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

func sortedKeys[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	sort.Strings(keys)
	return keys
}
