package check

import (
	"fmt"
	"slices"
	"strings"

	"processidea/model/diag"
	"processidea/model/ideafile"
	"processidea/model/jsonval"
	"processidea/model/refexpr"
	"processidea/model/statelog"
)

// This file reads the Calls of a Plan message, as an instance would, and reports all that is wrong with each.

// planCheck is the check of one Plan. Several Plans are alternatives: each is judged by itself.
type planCheck struct {
	*checker
	palette ideafile.Palette
	path    string
	tokens  []string // the instances that it is meant for
	steps   []*planStep
}

// planStep is one Call of the Plan, as far as it could be read.
type planStep struct {
	path   string
	index  int
	raw    map[string]any
	tool   *ideafile.Tool // nil: unknown
	tokens []string       // the instances it is for; nil: unknown
	reads  []planRead
	output refexpr.OutputPath
	method string
	// outputAt is the place of the output path: a key of the Call, or the Call itself where its designer fixed it.
	outputAt string
	broken   bool
}

// planRead is a Reference, or an expression, in a Call's parameters.
type planRead struct {
	expr  refexpr.Expression
	path  string       // in the file
	param jsonval.Path // in the parameters
	wired bool
}

func (s *planStep) String() string {
	name, _ := s.raw["_tool"].(string)
	return fmt.Sprintf("plan[%d] (%s)", s.index, jsonval.Clip(name, 40))
}

// update says whether the Call's write is a declared update, as Record.update.
func (s *planStep) update() bool {
	return len(s.output) > 0 && statelog.IsUpdate(s.method, s.output[0][0])
}

func (c *checker) checkPlan(m placed) {
	tokens := c.tokens
	if m.Instance != "" {
		tokens = []string{m.Instance}
	}
	p := &planCheck{checker: c, path: m.path + ".plan", tokens: c.meant(m, tokens), palette: ideafile.Palette{
		Tools: c.idea.Tools, Bindings: c.assumed(), Tokens: tokens, UntargetedForAll: true,
	}}
	for n, call := range m.Calls {
		p.steps = append(p.steps, p.read(n, call))
	}
	p.checkFlow(p.readOutput(m))
}

// fail reports what is wrong with a Call by itself.
func (p *planCheck) fail(s *planStep, path, format string, args ...any) {
	s.broken = true
	p.add(path, format, args...)
}

func (p *planCheck) read(n int, call ideafile.WrittenCall) *planStep {
	s := &planStep{path: fmt.Sprintf("%s[%d]", p.path, n), index: n, tokens: p.palette.Tokens}
	s.outputAt = s.path
	if s.raw = call.Fields(); s.raw == nil {
		p.fail(s, s.path, "a Call is an object, not %s", jsonval.TypeOf(call.Value()))
		return s
	}
	p.readTarget(s, call)
	p.readTool(s)
	p.readMeta(s)
	p.readParams(s)
	p.readOutputPath(s)
	p.readChoices(s)
	if _, _, f := p.palette.Read(call); f != nil && !s.broken {
		p.fail(s, s.path, "%s", f.Message)
	}
	return s
}

// readTarget reads which instances a Call is for.
func (p *planCheck) readTarget(s *planStep, call ideafile.WrittenCall) {
	tokens, f := p.palette.Targets(call)
	if f == nil {
		s.tokens = tokens
		return
	}
	s.tokens = nil
	token, ok := s.raw["_instance"].(string)
	at := s.path + "._instance"
	switch known := p.palette.Tokens; {
	case !ok:
		p.fail(s, at, "%s", f.Message)
	case len(known) == 1 && known[0] == "":
		p.fail(s, at, "unknown instance %q: no message of the context names an instance; leave _instance out", jsonval.Clip(token, 80))
	case slices.Contains(p.checker.tokens, token):
		p.fail(s, at, "the Plan is for instance %s alone, and its Call for %q", known[0], jsonval.Clip(token, 80))
	default:
		p.fail(s, at, "unknown instance %q%s", jsonval.Clip(token, 80), orTheList(token, known))
	}
}

// orTheList suggests a name, or lists them all.
func orTheList(name string, names []string) string {
	if s := diag.DidYouMean(name, names); s != "" {
		return s
	}
	return "; there are " + diag.SomeOf(names) + ` and "*" for all`
}

func (p *planCheck) readTool(s *planStep) {
	name, ok := s.raw["_tool"].(string)
	s.tool = p.idea.Tool(name)
	server, mayCome := p.idea.ServerThatMayOffer(name)
	switch {
	case !ok:
		p.fail(s, s.path, `the Call names no tool: it needs "_tool"%s`, p.otherTools(""))
	case s.tool != nil:
	case mayCome:
		s.broken = true // nothing else can be said of it
		p.warn(s.path+"._tool", "%s", ideafile.MayBeOfferedMessage(name, server))
	default:
		p.fail(s, s.path+"._tool", "unknown tool %q%s", jsonval.Clip(name, 80), p.otherTools(name))
	}
}

func (p *planCheck) readMeta(s *planStep) {
	for _, k := range jsonval.SortedKeys(s.raw) {
		if strings.HasPrefix(k, "_") && s.raw[k] != nil && !slices.Contains(ideafile.CallMetaKeys, k) {
			p.fail(s, jsonval.JSONPathKey(s.path, k), "a Call has no meta property %q%s", jsonval.Clip(k, 80), diag.DidYouMean(k, ideafile.CallMetaKeys))
		}
	}
}

// readParams reads the parameters one by one, so that each is told what is wrong with it.
func (p *planCheck) readParams(s *planStep) {
	for _, k := range jsonval.SortedKeys(s.raw) {
		if strings.HasPrefix(k, "_") || s.aliasesOutput(k) {
			continue
		}
		at := jsonval.JSONPathKey(s.path, k)
		if !p.readReferences(s, at, s.raw[k], jsonval.Path{k}) || s.tool == nil {
			continue
		}
		if _, _, f := s.tool.ReadParam(k, s.raw[k]); f != nil {
			p.fail(s, at, "%s%s", f.Message, s.otherParams(k))
		}
	}
	if s.tool == nil {
		return
	}
	for _, k := range jsonval.SortedKeys(s.tool.WiredParams) {
		if e, err := refexpr.ParseExpression(s.tool.WiredParams[k]); err == nil && e.ReadsKind(ideafile.TypeState) {
			s.reads = append(s.reads, planRead{expr: e, path: s.path, param: jsonval.Path{k}, wired: true})
		}
	}
	p.readMissing(s)
}

// readReferences collects the References in a value; it gives false where one of them is bad.
func (p *planCheck) readReferences(s *planStep, at string, v any, param jsonval.Path) bool {
	good := true
	switch v := v.(type) {
	case string:
		if !refexpr.IsReference(v) {
			break
		}
		e, err := refexpr.ParseExpression(v)
		if good = err == nil; good {
			s.reads = append(s.reads, planRead{expr: e, path: at, param: param})
		} else {
			p.fail(s, at, "%s", err)
		}
	case map[string]any:
		for _, k := range jsonval.SortedKeys(v) {
			good = p.readReferences(s, jsonval.JSONPathKey(at, k), v[k], append(param[:len(param):len(param)], k)) && good
		}
	case []any:
		for n, e := range v {
			step := fmt.Sprint(n)
			good = p.readReferences(s, at+"["+step+"]", e, append(param[:len(param):len(param)], step)) && good
		}
	}
	return good
}

func (p *planCheck) readMissing(s *planStep) {
	required, _ := jsonval.StringList(s.tool.Source["required"])
	for _, name := range required {
		_, wired := s.tool.WiredParams[name]
		_, given := s.raw[name]
		_, declared := s.tool.SchemaByParam[name]
		if !wired && (!given || s.aliasesOutput(name)) && (declared || s.tool.AllowsExtraParams) {
			p.fail(s, s.path, "parameter %q is missing", name)
		}
	}
}

// aliasesOutput says whether a key is the parameter `output` that means `_outputPath`.
func (s *planStep) aliasesOutput(key string) bool {
	if s.tool == nil {
		return (&ideafile.Tool{}).IsOutputPathAlias(key, s.raw[key])
	}
	return s.tool.IsOutputPathAlias(key, s.raw[key])
}

// otherParams helps with a parameter that the Tool does not have.
func (s *planStep) otherParams(name string) string {
	if _, declared := s.tool.SchemaByParam[name]; declared {
		return ""
	}
	var names []string
	for _, k := range jsonval.SortedKeys(s.tool.SchemaByParam) {
		if _, given := s.raw[k]; !given && s.tool.WiredParams[k] == "" {
			names = append(names, k)
		}
	}
	if text := diag.DidYouMean(name, names); text != "" || len(names) == 0 {
		return text
	}
	return "; it has " + diag.SomeOf(names)
}

// readOutputPath reads where the result goes. An unknown Tool's Call is believed what it says.
func (p *planCheck) readOutputPath(s *planStep) {
	tool, part := s.tool, map[string]any{}
	if tool == nil {
		tool = &ideafile.Tool{}
	}
	if v := s.raw["_outputPath"]; v != nil {
		part["_outputPath"], s.outputAt = v, s.path+"._outputPath"
	}
	if s.aliasesOutput("output") {
		part["output"] = s.raw["output"]
		if part["_outputPath"] == nil {
			s.outputAt = s.path + ".output"
		}
	}
	var c ideafile.Call
	if f := tool.ReadOutputMeta(&c, part); f != nil && len(part) > 0 {
		p.fail(s, s.outputAt, "%s", f.Message)
	}
	s.output = c.OutputPath
}

// readChoices reads the other meta properties that a Tool may leave to its Calls.
func (p *planCheck) readChoices(s *planStep) {
	if s.tool == nil {
		return
	}
	for _, k := range []string{"_outputMethod", "_scopes"} {
		var c ideafile.Call
		f := s.tool.ReadOutputMeta(&c, map[string]any{k: s.raw[k]})
		if f != nil && s.raw[k] != nil {
			p.fail(s, jsonval.JSONPathKey(s.path, k), "%s", f.Message)
		}
		if c.OutputMethod != "" {
			s.method = c.OutputMethod
		}
	}
	var c ideafile.Call
	if f := s.tool.ReadLatentResult(&c, s.raw, p.palette.Bindings[s.tool.Name].Kind); f != nil {
		p.fail(s, s.path+"._output", "%s", f.Message)
	}
}

// readOutput reads the result that a Plan gives when it runs without a Request: a reader behind all its Calls.
func (p *planCheck) readOutput(m placed) *planStep {
	s := &planStep{path: m.path + ".output", index: len(m.Calls), tokens: p.palette.Tokens}
	p.readReferences(s, s.path, m.Source["output"], nil)
	return s
}
