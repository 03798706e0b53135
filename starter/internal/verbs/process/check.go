package process

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"processidea/client/ideafiles"
	"processidea/model/diag"
	"processidea/model/ideafile"
	"processidea/model/jsonval"
	"processidea/starter/internal/app"
	"processidea/starter/internal/exit"
	"processidea/starter/internal/print"
	"processidea/store/signing"
	"processidea/tools/kinds"
)

// Check says everything that is wrong with a process's files.
func Check(a *app.App) *cobra.Command {
	var files fileFlags
	c := app.NewCommand("check FILE|FOLDER", "Say everything that is wrong with a process's files",
		`Say everything that is wrong with an Idea file and the files beside it, each with its
place. It needs neither a server nor an LLM. Warnings alone do not fail. An unknown Go tool
is a warning, because your worker may have it; in a program with its own tools it is an
error.`,
		`  starter check refund.json
  starter check examples/moderation --json`,
		func(_ context.Context, args []string) error { return checkFiles(a, args[0], files) })
	files.addFlags(c)
	return c
}

// checkedProblem is one problem in the output of check --json.
type checkedProblem struct {
	JSONPath      string `json:"path"`
	Message       string `json:"message"`
	IsWarning     bool   `json:"warning"`
	UnlistedCount int    `json:"more,omitempty"`
}

func checkFiles(a *app.App, path string, files fileFlags) error {
	p, err := a.Place()
	if err != nil {
		return err
	}
	source, err := files.findSource(path)
	if err != nil {
		return err
	}
	tools := p.Tools()
	tools.MayHaveOtherWorkers = a.Additions.Tools == nil // a program with its own tools knows all tools of its workers
	d, problems, err := ideafiles.Load(source, tools)
	if err != nil {
		return err
	}
	if a.WritesJSON {
		err = printProblemsAsJSON(a, problems)
	} else {
		a.PrintProblems(path, problems)
	}
	switch {
	case err != nil:
		return err
	case len(problems.Errors()) > 0:
		return exit.WithCode(exit.Usage)
	case a.WritesJSON:
		return nil
	}
	if err := a.Print(toolRunnersText(d, p.Tools())); err != nil {
		return err
	}
	verdict := "nothing is wrong"
	if len(problems) > 0 {
		verdict = "no errors, " + print.Plural(problems.Count(), "warning")
	}
	return a.Print(fmt.Sprintf("%s: %s, %s: %s\n%s", path,
		print.Plural(len(d.ParsedIdea.Tools), "Tool"), print.Plural(len(d.ParsedIdea.InstanceTokens()), "instance"),
		verdict,
		p.Tools().BatchSizeText(d.ParsedIdea)+kinds.WorkerRequirements(d.AllIdeas()...)+
			signedDecisionsText(d.ParsedIdea)+irreversibleToolsText(d.ParsedIdea, p.Tools().Bind(d.ParsedIdea))))
}

// signedDecisionsText says which Tools want signed decisions. Only the worker knows whether it has keys to check them.
func signedDecisionsText(idea *ideafile.Idea) string {
	var signedToolNames []string
	for _, t := range idea.Tools {
		if idea.Config.ApprovalOversight.DecidersFor(t.Name, t.Approval).RequiresSignature() {
			signedToolNames = append(signedToolNames, t.Name)
		}
	}
	if len(signedToolNames) == 0 {
		return ""
	}
	return fmt.Sprintf("on its worker, %s must name the deciders' keys: decisions on %s are signed\n",
		signing.DecidersVariable,
		diag.SummarizeNames(signedToolNames))
}

// irreversibleToolsText names the Tools without an undo, if the file or a Go function declares an undo for any Tool. It
// omits those of which their MCP server says so when the process starts (`readOnlyHint`).
func irreversibleToolsText(idea *ideafile.Idea, bindings ideafile.ToolBindings) string {
	var irreversibleToolNames []string
	hasDeclaredUndo := false
	for _, t := range idea.Tools {
		functionUndo := bindings[t.Name].Undo
		hasDeclaredUndo = hasDeclaredUndo || t.Undo != nil ||
			functionUndo != nil && functionUndo.Kind == ideafile.UndoByTool
		toolRef, isMCP := t.MCPToolRef()
		isUndoUnknown := isMCP && toolRef.SpecDigest == "" && t.Undo == nil
		if !isUndoUnknown && t.EffectiveUndo(bindings[t.Name]).Kind == ideafile.UndoImpossible {
			irreversibleToolNames = append(irreversibleToolNames, t.Name)
		}
	}
	if len(irreversibleToolNames) == 0 || !hasDeclaredUndo {
		return ""
	}
	return fmt.Sprintf("what these did cannot be taken back: %s\n", diag.SummarizeNames(irreversibleToolNames))
}

// maxListedTools is how many Tools are listed one by one.
const maxListedTools = 40

// toolRunnersText says what runs each Tool. For more than maxListedTools, it gives the number of Tools of each kind.
func toolRunnersText(definition *ideafiles.Definition, tools ideafiles.WorkerTools) string {
	runnerTextByKind := map[ideafile.ToolKind]string{ideafile.KindGo: "a Go function",
		ideafile.KindHTTP:     "an HTTP request",
		ideafile.KindMCP:      "an MCP server",
		ideafile.KindLatent:   "nothing: the LLM writes its result",
		ideafile.KindDelegate: "another Idea, as a process of its own"}
	bindings := tools.Bind(definition.ParsedIdea)
	toolCountByKind := map[ideafile.ToolKind]int{}
	var b strings.Builder
	for _, t := range definition.ParsedIdea.Tools {
		kind := bindings[t.Name].Kind
		toolCountByKind[kind]++
		if len(definition.ParsedIdea.Tools) <= maxListedTools {
			runner := cmp.Or(runnerTextByKind[kind], "a worker, as "+string(kind))
			if name := bindings[t.Name].GoFunctionName; name != "" {
				runner = "the Go function " + name
			}
			fmt.Fprintf(&b, "  %s is run by %s\n", t.Name, runner)
		}
	}
	if len(definition.ParsedIdea.Tools) > maxListedTools {
		for kind, v := range jsonval.Sorted(toolCountByKind) {
			fmt.Fprintf(&b, "  %s: run by %s\n", print.Plural(v, "Tool"),
				cmp.Or(runnerTextByKind[kind], "a worker, as "+string(kind)))
		}
	}
	return b.String()
}

func printProblemsAsJSON(a *app.App, problems diag.Problems) error {
	list := make([]checkedProblem, len(problems))
	for n, p := range problems {
		list[n] = checkedProblem(p)
	}
	return a.PrintJSON(list)
}
