package wording_test

import (
	"cmp"
	"encoding/json"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"text/template/parse"

	"processidea/gateway/desk/wording"
)

// templates gives the pages by their files.
func templates(t *testing.T) map[string]string {
	t.Helper()
	all := map[string]string{}
	for _, pattern := range []string{"../templates/*.html", "../templates/parts/*.html"} {
		names, _ := filepath.Glob(pattern)
		for _, name := range names {
			data, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			all[name] = string(data)
		}
	}
	return all
}

// saidInActions collects what actions of a template say: say "…", plural n "…" and many n "…" "…".
func saidInActions(t *testing.T, source string, add func(text string)) {
	t.Helper()
	trees := map[string]*parse.Tree{}
	tree := parse.New("")
	tree.Mode = parse.SkipFuncCheck
	if _, err := tree.Parse(source, "", "", trees); err != nil {
		t.Fatal(err)
	}
	var walk func(n parse.Node)
	list := func(l *parse.ListNode) {
		if l != nil {
			for _, n := range l.Nodes {
				walk(n)
			}
		}
	}
	pipe := func(p *parse.PipeNode) {
		if p != nil {
			walk(p)
		}
	}
	walk = func(n parse.Node) {
		switch n := n.(type) {
		case *parse.ListNode:
			list(n)
		case *parse.ActionNode:
			pipe(n.Pipe)
		case *parse.TemplateNode:
			pipe(n.Pipe)
		case *parse.IfNode:
			pipe(n.Pipe)
			list(n.List)
			list(n.ElseList)
		case *parse.RangeNode:
			pipe(n.Pipe)
			list(n.List)
			list(n.ElseList)
		case *parse.WithNode:
			pipe(n.Pipe)
			list(n.List)
			list(n.ElseList)
		case *parse.PipeNode:
			for _, c := range n.Cmds {
				walk(c)
			}
		case *parse.CommandNode:
			var texts []string
			for _, arg := range n.Args {
				walk(arg)
				if text, is := arg.(*parse.StringNode); is {
					texts = append(texts, text.Text)
				}
			}
			function := ""
			if name, is := n.Args[0].(*parse.IdentifierNode); is {
				function = name.Ident
			}
			if !addSaid(function, texts, add) && slices.ContainsFunc(texts, unsaid.MatchString) {
				t.Errorf("an action has the texts %q, and nothing says them", texts)
			}
		}
	}
	for _, tree := range trees {
		walk(tree.Root)
	}
}

// unsaid is a text in an action that looks as if people read it.
var unsaid = regexp.MustCompile(`\pL{2} \pL{2}`)

// addSaid reports whether a function says the texts.
func addSaid(function string, texts []string, add func(text string)) bool {
	switch {
	case function == "eq":
	case function == "say" && len(texts) == 1:
		add(texts[0])
	case function == "plural" && len(texts) == 1:
		texts = append(texts, texts[0]+"s")
		fallthrough
	case function == "many" && len(texts) == 2:
		add("1 " + texts[0])
		add(value + " " + texts[1])
	default:
		return false
	}
	return true
}

// textsIn lists the texts of Go files, without those that isForOthers.
func textsIn(t *testing.T, isForOthers func(*ast.CallExpr) bool, folders ...string) (list []string) {
	t.Helper()
	for _, folder := range folders {
		names, _ := filepath.Glob(folder + "/*.go")
		names = slices.DeleteFunc(names, func(name string) bool { return strings.HasSuffix(name, "_test.go") })
		for _, name := range names {
			file, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
			if err != nil {
				t.Fatal(err)
			}
			var walk func(n ast.Node) bool
			walk = func(n ast.Node) bool {
				switch n := n.(type) {
				case *ast.ImportSpec:
					return false
				case *ast.Field:
					n.Tag = nil
				case *ast.CallExpr:
					return !isForOthers(n)
				case ast.Expr:
					text, is := textOf(n, func(value ast.Expr) { ast.Inspect(value, walk) })
					if is {
						list = append(list, text)
					}
					return !is
				}
				return true
			}
			ast.Inspect(file, walk)
		}
	}
	return list
}

// isForOthers reports whether a call speaks to programs, or to a log.
func isForOthers(c *ast.CallExpr) bool {
	name := ""
	switch f := c.Fun.(type) {
	case *ast.SelectorExpr:
		name = f.Sel.Name
	case *ast.Ident:
		name = f.Name
	}
	return slices.Contains([]string{"Errorf", "Error", "Warn", "Info", "MustCompile", "HandleFunc", "Set",
		"Get", "Has", "Write"}, name)
}

var verb = regexp.MustCompile(`%[\[\].\d]*[a-z]`)

// value stands for one that is put into a text.
const value = "\x00"

// textOf gives a text that is put together of literals and values; is: there is a literal in it. each is given the
// values.
func textOf(e ast.Expr, each func(ast.Expr)) (text string, is bool) {
	switch e := e.(type) {
	case *ast.BasicLit:
		text, err := strconv.Unquote(e.Value)
		return verb.ReplaceAllString(text, value), err == nil && e.Kind == token.STRING
	case *ast.BinaryExpr:
		parts := []string{value, value}
		for n, part := range []ast.Expr{e.X, e.Y} {
			if text, isText := textOf(part, each); isText {
				parts[n], is = text, true
			} else if e.Op == token.ADD {
				each(part)
			}
		}
		return parts[0] + parts[1], is && e.Op == token.ADD
	}
	return "", false
}

// catalogue is the file.
type catalogue struct{ Pages, Texts map[string]string }

func german(t *testing.T) catalogue { return catalogueIn(t, "de.json") }

func catalogueIn(t *testing.T, file string) (c catalogue) {
	t.Helper()
	data, err := os.ReadFile(file)
	if err == nil {
		err = json.Unmarshal(data, &c)
	}
	if err != nil {
		t.Fatal(err)
	}
	return c
}

var place = regexp.MustCompile(`\{(\d+)(:\w*)?\}`)

// kind is the word that stands before a text of one kind.
var kind = regexp.MustCompile(`^[a-z]+: `)

// has reports whether the catalogue has a text of Go: as it is, or as part of one that is put together of several.
func (c catalogue) has(text string) bool {
	for _, all := range []map[string]string{c.Texts, c.Pages} {
		for key := range all {
			key = place.ReplaceAllString(kind.ReplaceAllString(key, ""), value)
			if key == text || strings.HasPrefix(key, text) || strings.HasSuffix(key, text) ||
				text != strings.TrimLeft(text, " ,;") && strings.Contains(key, text) {
				return true
			}
		}
	}
	return false
}

// spoken is what people would read; notSpoken is what looks like it.
var (
	spoken    = regexp.MustCompile(`\pL[^\pL]* [^/=]*\pL|^[A-Z][a-z]+$`)
	notSpoken = regexp.MustCompile(
		`^(Authorization|ES256|It is \x00\.|Process Idea|process idea|held up|default-src|text/)`)
)

func TestEveryTextOfTheDeskHasGerman(t *testing.T) {
	t.Parallel()
	de := german(t)
	for name, source := range templates(t) {
		wording.TranslateTemplate(source, func(key string) string {
			if _, known := de.Pages[key]; !known {
				t.Errorf("%s says %q", name, key)
			}
			return key
		})
		saidInActions(t, source, func(text string) {
			if !de.has(text) {
				t.Errorf("an action of %s says %q", name, text)
			}
		})
	}
	for _, text := range textsIn(t, isForOthers, deskFolders...) {
		if spoken.MatchString(text) && !notSpoken.MatchString(text) && !de.has(text) {
			t.Errorf("Go says %q", text)
		}
	}
}

// deskFolders are those of the desk, and spokenElsewhere what the desk shows texts of.
var (
	deskFolders     = []string{"..", "../form", "../ownkey", "../planpage", "../../../client/rulewords"}
	spokenElsewhere = []string{"../../access", "../../api", "../../../client", "../../../client/bulk",
		"../../../client/readable", "../../../client/report", "../../../model/approval",
		"../../../model/check/plangraph",
		"../../../model/approval/policy", "../../../model/approval/proof", "../../../model/dataflow",
		"../../../model/ideafile", "../../../model/ideafile/shown", "../../../model/loop", "../../../model/quality",
		"../../../model/turn", "../../../model/undo",
		"../../../store/ideadiff", "../../../store/signing/passkey", "../../../workflows/internal/instance",
		"../../../workflows/internal/process"}
	// refusing are the files that say why a decision, or another act at the desk, is refused.
	refusing = []string{"approval/not_waiting.go", "approval/orders.go", "approval/plan_review.go",
		"approval/policy/rule.go", "approval/proof/proof.go", "approval/proven.go", "approval/remark.go",
		"dataflow/deciders.go", "dataflow/decisions.go", "loop/steering.go", "undo/invert.go",
		"../client/decide.go", "../client/steer.go", "../workflows/internal/process/people.go"}
	// notOfDecisions are texts there that people do not read, or that only frame what a Tool's schema says, and what is
	// wrong with acts that no form of the desk sends.
	notOfDecisions = regexp.MustCompile(
		`^(params|with|output|the proof's signer|calls\[\x00\]): |^\x00$|^a process tells|by has count|^want |` +
			`^how many|listed twice|^there is no (Tool|order) |^when: |^\$\.context\[\x00\]: \x00$|` +
			`^it could only replace|names no new instance$|; add makes new ones$|^cancel \x00: \x00$`)
)

// Whoever may not decide, or whose decision does not count, reads why in their language.
func TestEveryRefusalOfADecisionHasGerman(t *testing.T) {
	t.Parallel()
	de := german(t)
	for _, name := range refusing {
		file, err := parser.ParseFile(token.NewFileSet(), "../../../model/"+name, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		said := 0
		ast.Inspect(file, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.CallExpr:
				f, _ := n.Fun.(*ast.SelectorExpr)
				if f == nil || !slices.Contains([]string{"Errorf", "New"}, f.Sel.Name) {
					break
				}
				text, is := textOf(n.Args[0], func(ast.Expr) {})
				if said++; is && !notOfDecisions.MatchString(text) && !de.has(text) {
					t.Errorf("%s says %q", name, text)
				}
			case *ast.ReturnStmt: // why somebody may not
				for _, one := range n.Results {
					text, is := textOf(one, func(ast.Expr) {})
					if is && spoken.MatchString(text) && !de.has(text) {
						t.Errorf("%s says %q", name, text)
					}
				}
			}
			return true
		})
		if said == 0 {
			t.Errorf("%s says nothing: it is not what refuses", name)
		}
	}
}

func TestAllGermanIsOfATextThatThereIs(t *testing.T) {
	t.Parallel()
	de, used, said := german(t), map[string]bool{}, strings.Builder{}
	for _, source := range templates(t) {
		wording.TranslateTemplate(source, func(key string) string { used[key] = true; return key })
		saidInActions(t, source, func(text string) { said.WriteString(text + "\n") })
	}
	for key := range de.Pages {
		if !used[key] {
			t.Errorf("no page says %q", key)
		}
	}
	forNobody := func(*ast.CallExpr) bool { return false }
	for _, text := range textsIn(t, forNobody, slices.Concat(deskFolders, spokenElsewhere)...) {
		said.WriteString(text + "\n")
	}
	all := said.String()
	for key := range de.Texts {
		if key == "1,234.5" {
			continue // how numbers are written
		}
		for _, fixed := range place.Split(kind.ReplaceAllString(key, ""), -1) {
			if !saysIt(all, fixed) {
				t.Errorf("nothing says %q of %q", fixed, key)
			}
		}
	}
}

// saysIt reports whether texts have a part of one, which code may put together of a few words.
func saysIt(all, fixed string) bool {
	fixed = strings.Trim(fixed, " ,;:.()“”1")
	words := strings.Fields(fixed)
	return strings.Contains(all, fixed) || len(words) < 7 && !slices.ContainsFunc(words, func(word string) bool {
		return !strings.Contains(all, strings.ToLower(word)) && !strings.Contains(all, strings.Trim(word, ",;s"))
	})
}

// What English says otherwise is a text that there is: German has it, too.
func TestWhatTheDeskSaysOtherwiseIsATextThatThereIs(t *testing.T) {
	t.Parallel()
	de := german(t)
	for key := range catalogueIn(t, "en.json").Texts {
		if de.Texts[key] == "" && de.Pages[key] == "" {
			t.Errorf("nothing says %q", key)
		}
	}
}

func TestAGermanTextHasTheValuesOfTheEnglish(t *testing.T) {
	t.Parallel()
	de := german(t)
	places := func(text string) []string {
		var list []string
		for _, m := range place.FindAllStringSubmatch(text, -1) {
			list = append(list, m[1])
		}
		slices.Sort(list)
		return list
	}
	for _, all := range []map[string]string{de.Pages, de.Texts} {
		for english, text := range all {
			want, have := places(english), places(text)
			if !slices.Equal(want, have) && !slices.Equal(want, slices.Compact(have)) || text == "" {
				t.Errorf("%q is %q", english, text)
			}
		}
	}
}

var (
	// engines are words that only those know who know the engine.
	engines = regexp.MustCompile(`\b(Calls?|Tools?|Ideas?|LLMs?|Requests?|State|References?|` +
		`[Dd]igests?|[Gg]ateways?|[Ii]nstances?|[Pp]olic(y|ies)|[Ww]orkers?|[Ss]ettled?)\b`)
	forOperators = regexp.MustCompile(`(?s)<details class="operators".*?</details>`)
)

// What the engine says is read in the words of the desk, in each language.
func TestTheCatalogueSpeaksTheWordsOfTheBusiness(t *testing.T) {
	t.Parallel()
	english := catalogueIn(t, "en.json").Texts
	parts := regexp.MustCompile(`"\w+" (is missing|and "\w+")|\b(params|amend(ed)?|undo)\b`)
	forOperators := regexp.MustCompile(`^(count: .*Requests?|the last \{1\} completed .*|\(JSON Lines; .*|` +
		`The Plan has .* starter amend-plan\.|.*"_tool".*)$`)
	for key := range german(t).Texts {
		text := kind.ReplaceAllString(cmp.Or(english[key], key), "")
		for _, no := range []*regexp.Regexp{engines, parts} {
			if word := no.FindString(place.ReplaceAllString(text, "")); word != "" && !forOperators.MatchString(key) {
				t.Errorf("it says %s in %q", word, text)
			}
		}
	}
}

func TestNoPageSpeaksTheWordsOfTheEngineButForOperators(t *testing.T) {
	t.Parallel()
	check := func(name, text string) {
		text = strings.ReplaceAll(text, "Process Idea", "")
		if word := engines.FindString(text); word != "" {
			t.Errorf("%s says %s in %q", name, word, text)
		}
	}
	for name, source := range templates(t) {
		source = forOperators.ReplaceAllString(source, "")
		wording.TranslateTemplate(source, func(key string) string { check(name, key); return key })
		saidInActions(t, source, func(text string) { check(name, text) })
	}
	for _, text := range textsIn(t, isForOthers, deskFolders...) {
		if spoken.MatchString(text) && !notSpoken.MatchString(text) {
			check("Go", text)
		}
	}
}
