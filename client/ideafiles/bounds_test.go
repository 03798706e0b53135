package ideafiles_test

import (
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"strconv"
	"strings"
	"testing"

	"processidea/client/ideafiles"
	"processidea/internal/rehearsal"
	"processidea/model/diag"
	"processidea/model/ideafile"
	"processidea/model/jsonval"
	"processidea/tools/kinds"
)

// Files of millions of mistakes are refused with a hundred of them, and take little memory. Not parallel: it measures
// the memory of the program.
func TestNoFileTakesMuchMoreMemoryThanItsSize(t *testing.T) {
	const (
		size   = 2 << 20
		atMost = 10*size + 200_000*110 // a file of any length may have so many values
		idea   = `{"context": [{"type": "input", "schema": {"type": "object", "properties": {"n": {"type": "number"}}}}]}`
	)
	many := func(item string) string {
		var b strings.Builder
		for n := 0; b.Len() < size; n++ {
			b.WriteString(strings.ReplaceAll(item, "N", strconv.Itoa(n)))
		}
		return b.String()
	}
	list := func(begin, item, end string) string { return begin + strings.TrimSuffix(many(item+","), ",") + end }
	for what, c := range map[string]struct{ file, text string }{
		"messages that are numbers": {"idea.json", list(`{"context":[`, "1", "]}")},
		"messages that are texts": {"idea.json",
			list(`{"context":[`, `"a text that is no message, number N"`, "]}")},
		"messages without anything": {"idea.json", list(`{"context":[`, "{}", "]}")},
		"messages of no type": {"idea.json",
			list(`{"context":[`, `{"a key that is none of a message's, number N":"none"}`, "]}")},
		"unknown keys": {"idea.json",
			list(`{`, `"a key that is none of an Idea's, number N":"none"`, "}")},
		"Tools that are none": {"idea.json",
			list(`{"schema":{"tools":{`, `"a tool that is no tool, number N":"none"`, "}}}")},
		"Calls that are none": {"idea.json",
			list(`{"context":[{"type":"plan","plan":[`, `"a text that is no Call, number N"`, "]}]}")},
		"Calls that are some": {"idea.json", list(`{"context":[{"type":"plan","stage":"optimal","plan":[`,
			`{"_tool":"fetch"}`, "]}]}")},
		"one text":                {"idea.json", `{"context":["` + many("x") + `"]}`},
		"deep nesting":            {"idea.json", many("[")},
		"YAML of numbers":         {"idea.yaml", "context:\n" + many("- 1\n")},
		"YAML of lists in lists":  {"idea.yaml", "context: " + many("[")},
		"rows that are numbers":   {"instances.jsonl", many("1\n")},
		"rows without anything":   {"instances.jsonl", many("{}\n")},
		"rows that are texts":     {"instances.jsonl", many("\"a text that is no row, number N\"\n")},
		"rows that are broken":    {"instances.jsonl", many("{\"a row that is cut, number N\n")},
		"rows in a list":          {"instances.json", list("[", "1", "]")},
		"texts in a list":         {"instances.json", list("[", `"a text that is no row, number N"`, "]")},
		"rows of one cell":        {"instances.csv", "n\n" + many("1\n")},
		"a column for each value": {"instances.csv", list("", "N", "\n") + list("", "N", "\n")},
		"columns without a name":  {"instances.csv", "n" + many(",") + "\n1\n"},
		"a row of empty cells":    {"instances.csv", "n\n1\n2" + many(",") + "\n"},
		"cells of another type": {"instances.csv",
			"n,a column beside it\n" + many("a text that is no number, N\n")},
		"replies without anything": {"replies.jsonl", many("{}\n")},
		"replies that are numbers": {"replies.jsonl", many("1\n")},
		"replies of unknown keys": {"replies.jsonl",
			list("{", `"a key that is none of a reply's, number N":1`, "}")},
		"unknown keys line for line": {"replies.jsonl", many("{\"a key that is none of a reply's, number N\":1}\n")},
	} {
		dir := t.TempDir()
		files := map[string]string{"idea.json": idea}
		if strings.HasSuffix(c.file, ".yaml") {
			files = map[string]string{}
		}
		files[c.file] = c.text
		for name, text := range files {
			if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		source, err := ideafiles.Find(dir, "", "")
		if err != nil {
			t.Fatal(err)
		}
		source.IsFromStranger = true // up to jsonval.TrustedTableNodeLimit, rows of one's own may be shorter
		var problems diag.Problems
		var text string
		taken := 2 * atMost
		for tries := 0; taken > atMost && tries < 3; tries++ { // a busy machine collects garbage late
			taken = atItsPeak(func() {
				_, problems, err = ideafiles.Load(source,
					ideafiles.WorkerTools{Registry: kinds.NewKnownTools(nil, nil), CheckReplies: rehearsal.CountReplies,
						HasOtherWorkers: true})
				text = problems.Error()
			})
		}
		if err != nil || len(problems.Errors()) == 0 || len(problems) > 2*(diag.MaxListedProblems+1) || len(text) > size {
			t.Errorf("%s: %v, %d problems in %d bytes: %.300s", what, err, len(problems), len(text), text)
		}
		if taken > atMost {
			t.Errorf("%s, of %d KB, takes %d KB", what, len(c.text)>>10, taken>>10)
		}
	}
}

// A table of whoever runs the program is no attack.
func TestManyShortRowsAreTakenFromTheirOwner(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"rows.jsonl": strings.Repeat(`{"n":1,"m":2}`+"\n", 100_000),
		"rows.csv":   "n,m,o\n" + strings.Repeat("1,2,3\n", 100_000),
	} {
		dir := t.TempDir()
		for file, text := range map[string]string{"idea.json": `{"context":[{"type":"text","text":"t"}]}`, name: text} {
			if err := os.WriteFile(filepath.Join(dir, file), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		source, err := ideafiles.Find(filepath.Join(dir, "idea.json"), filepath.Join(dir, name), "")
		if err != nil {
			t.Fatal(err)
		}
		for _, source.IsFromStranger = range []bool{false, true} {
			_, problems, err := ideafiles.Load(source, ideafiles.WorkerTools{HasOtherWorkers: true})
			refused := strings.Contains(problems.Errors().Error(), "after the first")
			if err != nil || refused != source.IsFromStranger {
				t.Errorf("%s, sent: %v: %v, %v", name, source.IsFromStranger, problems, err)
			}
		}
		for limit, want := range map[jsonval.NodeLimit]bool{jsonval.TrustedTableNodeLimit: true,
			jsonval.UntrustedNodeLimit: false} {
			rows, problems := ideafiles.ReadRowsAsMessages(name, []byte(text), &ideafile.Idea{}, limit) // as add does
			if taken := len(rows) == 100_000; taken != want || taken != (len(problems.Errors()) == 0) {
				t.Errorf("%s, added: %d rows, %v", name, len(rows), problems)
			}
		}
	}
}

// atItsPeak is how much more of the heap is in use while do runs than before, at most.
func atItsPeak(do func()) (bytes int) {
	defer debug.SetGCPercent(debug.SetGCPercent(10)) // garbage counts as in use until it is collected
	runtime.GC()
	inUse := func() int {
		sample := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
		metrics.Read(sample)
		return int(sample[0].Value.Uint64())
	}
	before := inUse()
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		do()
	}()
	for {
		select {
		case <-ended:
			return bytes
		default:
			bytes = max(bytes, inUse()-before)
		}
	}
}

// live is how many bytes of the heap are in use, without garbage.
func live() int {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	return int(m.HeapAlloc) //nolint:gosec // no machine has so much
}

// Not parallel: it measures the memory of the program.
func TestRowsOfAProgramAreNotCopiedUnlessTheyAreChanged(t *testing.T) {
	rows := make([]map[string]any, 100_000)
	for n := range rows {
		rows[n] = map[string]any{"order": n}
	}
	before := live()
	messages, _ := ideafiles.MessagesFromRows(rows, &ideafile.Idea{})
	if perRow := (live() - before) / len(rows); perRow > 550 { // a map takes over 300
		t.Errorf("%d bytes a row", perRow)
	}
	runtime.KeepAlive(messages)
	runtime.KeepAlive(rows)
	named := map[string]any{"_instance": "x", "order": 1}
	state, unnamed := map[string]any{"type": "state", "order": 1}, map[string]any{"_instance": nil, "order": 1}
	_, ps := ideafiles.MessagesFromRows([]map[string]any{named, state, unnamed}, &ideafile.Idea{})
	if len(ps) > 0 || named["_instance"] != "x" || len(state) != 2 || len(unnamed) != 2 {
		t.Errorf("the rows are now %v, %v and %v; %v", named, state, unnamed, ps)
	}
}

// Not parallel: it measures the memory of the program.
func TestATableTakesLessThanTenTimesItsSize(t *testing.T) {
	const size = 4 << 20
	table := func(head, row string) string {
		var b strings.Builder
		b.WriteString(head)
		for n := 0; b.Len() < size; n++ {
			b.WriteString(strings.ReplaceAll(row, "N", strconv.Itoa(100_000+n)))
		}
		return b.String()
	}
	for name, text := range map[string]string{
		"rows.csv": table("order,customer,mail,amount,country,note\n",
			"N,Ann Example N,annN@example.com,129.90,DE,please deliver to the neighbour on the second floor before noon\n"),
		"rows.jsonl": table("", `{"order":"N","customer":"Ann Example N","mail":"annN@example.com","amount":129.90,`+
			`"country":"DE","note":"please deliver to the neighbour on the second floor before noon"}`+"\n"),
	} {
		dir := t.TempDir()
		for file, text := range map[string]string{name: text, "idea.json": `{"schema": {"tools": {"look": {"type": "object",
			"properties": {"order": {"type": "string"}}, "_activity": "note"}}}, "context": [{"type": "input", "schema": {
			"type": "object", "properties": {"amount": {"type": "number"}}, "required": ["order"]}},
			{"type": "plan", "stage": "optimal", "plan": [{"_tool": "look", "order": "†input.order"}]}]}`} {
			if err := os.WriteFile(filepath.Join(dir, file), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		source, err := ideafiles.Find(filepath.Join(dir, "idea.json"), filepath.Join(dir, name), "")
		if err != nil {
			t.Fatal(err)
		}
		before := live()
		d, problems, err := ideafiles.Load(source, ideafiles.WorkerTools{Registry: kinds.NewKnownTools(nil, nil),
			HasOtherWorkers: true})
		taken := live() - before
		if err != nil || len(problems.Errors()) > 0 || len(d.ParsedIdea.Context) < 10_000 {
			t.Fatalf("%s: %v, %v", name, err, problems)
		}
		if times := float64(taken) / float64(len(text)); times >= 10 {
			t.Errorf("%s, of %d KB, takes %.2f times as much", name, len(text)>>10, times)
		}
		runtime.KeepAlive(d)
	}
}
