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

// planChecker checks one Plan. Several Plans are alternatives: each is checked by itself.
type planChecker struct {
	*checker
	palette ideafile.Palette
	path    string
	tokens  []string // the instances for which the Plan's condition holds
	steps   []*planStep
}

// planStep is one Call of the Plan, as far as it could be read.
type planStep struct {
	path      string
	index     int
	raw       map[string]any
	tool      *ideafile.Tool // nil: unknown
	instances []string       // the instances the Call is for; nil: unknown
	reads     []planRead
	output    refexpr.OutputPath
	method    string
	// outputLocation is where the file gives the output path: a key of the Call, or the Call itself where the designer
	// fixed the path.
	outputLocation string
	invalid        bool
}

// planRead is a Reference or an expression in a Call's parameters.
type planRead struct {
	expr      refexpr.Expression
	location  string       // in the file
	paramPath jsonval.Path // in the parameters
	wired     bool
}

func (s *planStep) String() string {
	name, _ := s.raw["_tool"].(string)
	return fmt.Sprintf("plan[%d] (%s)", s.index, jsonval.Clip(name, 40))
}

// isUpdate reports whether the Call's write is a declared update.
func (s *planStep) isUpdate() bool {
	return len(s.output) > 0 && statelog.IsUpdate(s.method, s.output[0][0])
}

func (c *checker) checkPlan(m locatedMessage) {
	tokens := c.tokens
	if m.Instance != "" {
		tokens = []string{m.Instance}
	}
	p := &planChecker{checker: c, path: m.path + ".plan", tokens: c.instancesOf(m, tokens), palette: ideafile.Palette{
		Tools: c.idea.Tools, Bindings: c.bindingsOrDefault(), InstanceTokens: tokens, UntargetedForAll: true,
	}}
	for n, call := range m.Calls {
		p.steps = append(p.steps, p.readCall(n, call))
	}
	p.checkFlow(p.readPlanOutput(m))
}

// addCallError reports an error that lies in the Call by itself.
func (p *planChecker) addCallError(s *planStep, path, format string, args ...any) {
	s.invalid = true
	p.addError(path, format, args...)
}

func (p *planChecker) readCall(n int, call ideafile.WrittenCall) *planStep {
	s := &planStep{path: fmt.Sprintf("%s[%d]", p.path, n), index: n, instances: p.palette.InstanceTokens}
	s.outputLocation = s.path
	s.raw = call.Fields()
	if s.raw == nil {
		p.addCallError(s, s.path, "a Call is an object, not %s", jsonval.TypeOf(call.Value()))
		return s
	}
	p.resolveInstances(s, call)
	p.resolveTool(s)
	p.rejectUnknownMetaProperties(s)
	p.checkParams(s)
	p.readOutputPath(s)
	p.readMetaProperties(s)
	if _, _, f := p.palette.Read(call); f != nil && !s.invalid {
		p.addCallError(s, s.path, "%s", f.Message)
	}
	return s
}

// resolveInstances finds the instances that a Call is for, and reports a name that is none.
func (p *planChecker) resolveInstances(s *planStep, call ideafile.WrittenCall) {
	tokens, f := p.palette.TargetInstances(call)
	if f == nil {
		s.instances = tokens
		return
	}
	s.instances = nil
	token, ok := s.raw["_instance"].(string)
	location := s.path + "._instance"
	switch known := p.palette.InstanceTokens; {
	case !ok:
		p.addCallError(s, location, "%s", f.Message)
	case len(known) == 1 && known[0] == "":
		p.addCallError(s, location, "unknown instance %q: no message of the context names an instance; leave _instance out", jsonval.Clip(token, 80))
	case slices.Contains(p.checker.tokens, token):
		p.addCallError(s, location, "the Plan is for instance %s alone, and its Call for %q", known[0], jsonval.Clip(token, 80))
	default:
		p.addCallError(s, location, "unknown instance %q%s", jsonval.Clip(token, 80), suggestInstance(token, known))
	}
}

// suggestInstance suggests the nearest token, or lists them all.
func suggestInstance(name string, names []string) string {
	if s := diag.DidYouMean(name, names); s != "" {
		return s
	}
	return "; there are " + diag.SomeOf(names) + ` and "*" for all`
}

func (p *planChecker) resolveTool(s *planStep) {
	name, ok := s.raw["_tool"].(string)
	s.tool = p.idea.Tool(name)
	server, mayBeImported := p.idea.ServerThatMayOffer(name)
	switch {
	case !ok:
		p.addCallError(s, s.path, `the Call names no tool: it needs "_tool"%s`, p.suggestTool(""))
	case s.tool != nil:
	case mayBeImported:
		s.invalid = true // the Tool is not known yet, so the rest of the Call cannot be checked
		p.addWarning(s.path+"._tool", "%s", ideafile.MayBeOfferedMessage(name, server))
	default:
		p.addCallError(s, s.path+"._tool", "unknown tool %q%s", jsonval.Clip(name, 80), p.suggestTool(name))
	}
}

func (p *planChecker) rejectUnknownMetaProperties(s *planStep) {
	for _, k := range jsonval.SortedKeys(s.raw) {
		if strings.HasPrefix(k, "_") && s.raw[k] != nil && !slices.Contains(ideafile.CallMetaKeys, k) {
			p.addCallError(s, jsonval.JSONPathKey(s.path, k), "a Call has no meta property %q%s", jsonval.Clip(k, 80), diag.DidYouMean(k, ideafile.CallMetaKeys))
		}
	}
}

// checkParams reads the parameters one by one, so that each gets its own error.
func (p *planChecker) checkParams(s *planStep) {
	for _, k := range jsonval.SortedKeys(s.raw) {
		if strings.HasPrefix(k, "_") || s.isOutputAlias(k) {
			continue
		}
		location := jsonval.JSONPathKey(s.path, k)
		if !p.collectReferences(s, location, s.raw[k], jsonval.Path{k}) || s.tool == nil {
			continue
		}
		if _, _, f := s.tool.ReadParam(k, s.raw[k]); f != nil {
			p.addCallError(s, location, "%s%s", f.Message, s.suggestParam(k))
		}
	}
	if s.tool == nil {
		return
	}
	for _, k := range jsonval.SortedKeys(s.tool.WiredParams) {
		if e, err := refexpr.ParseExpression(s.tool.WiredParams[k]); err == nil && e.ReadsKind(ideafile.TypeState) {
			s.reads = append(s.reads, planRead{expr: e, location: s.path, paramPath: jsonval.Path{k}, wired: true})
		}
	}
	p.checkMissingParams(s)
}

// collectReferences collects the References in a value. It returns false where one of them is malformed.
func (p *planChecker) collectReferences(s *planStep, location string, v any, param jsonval.Path) bool {
	ok := true
	switch v := v.(type) {
	case string:
		if !refexpr.IsReference(v) {
			break
		}
		e, err := refexpr.ParseExpression(v)
		ok = err == nil
		if ok {
			s.reads = append(s.reads, planRead{expr: e, location: location, paramPath: param})
		} else {
			p.addCallError(s, location, "%s", err)
		}
	case map[string]any:
		for _, k := range jsonval.SortedKeys(v) {
			ok = p.collectReferences(s, jsonval.JSONPathKey(location, k), v[k], append(param[:len(param):len(param)], k)) && ok
		}
	case []any:
		for n, e := range v {
			step := fmt.Sprint(n)
			ok = p.collectReferences(s, location+"["+step+"]", e, append(param[:len(param):len(param)], step)) && ok
		}
	}
	return ok
}

func (p *planChecker) checkMissingParams(s *planStep) {
	required, _ := jsonval.StringList(s.tool.Source["required"])
	for _, name := range required {
		_, wired := s.tool.WiredParams[name]
		_, present := s.raw[name]
		_, declared := s.tool.SchemaByParam[name]
		if !wired && (!present || s.isOutputAlias(name)) && (declared || s.tool.AllowsExtraParams) {
			p.addCallError(s, s.path, "parameter %q is missing", name)
		}
	}
}

// isOutputAlias reports whether a key is the parameter `output` that stands for `_outputPath`.
func (s *planStep) isOutputAlias(key string) bool {
	if s.tool == nil {
		return (&ideafile.Tool{}).IsOutputPathAlias(key, s.raw[key])
	}
	return s.tool.IsOutputPathAlias(key, s.raw[key])
}

// suggestParam suggests a parameter for one that the Tool does not have.
func (s *planStep) suggestParam(name string) string {
	if _, declared := s.tool.SchemaByParam[name]; declared {
		return ""
	}
	var names []string
	for _, k := range jsonval.SortedKeys(s.tool.SchemaByParam) {
		if _, present := s.raw[k]; !present && s.tool.WiredParams[k] == "" {
			names = append(names, k)
		}
	}
	if text := diag.DidYouMean(name, names); text != "" || len(names) == 0 {
		return text
	}
	return "; it has " + diag.SomeOf(names)
}

// readOutputPath reads where the result goes. For an unknown Tool the Call's own path is taken.
func (p *planChecker) readOutputPath(s *planStep) {
	tool, part := s.tool, map[string]any{}
	if tool == nil {
		tool = &ideafile.Tool{}
	}
	if v := s.raw["_outputPath"]; v != nil {
		part["_outputPath"], s.outputLocation = v, s.path+"._outputPath"
	}
	if s.isOutputAlias("output") {
		part["output"] = s.raw["output"]
		if part["_outputPath"] == nil {
			s.outputLocation = s.path + ".output"
		}
	}
	var c ideafile.Call
	if f := tool.ReadOutputMeta(&c, part); f != nil && len(part) > 0 {
		p.addCallError(s, s.outputLocation, "%s", f.Message)
	}
	s.output = c.OutputPath
}

// readMetaProperties reads the other meta properties that a Tool may leave to its Calls.
func (p *planChecker) readMetaProperties(s *planStep) {
	if s.tool == nil {
		return
	}
	for _, k := range []string{"_outputMethod", "_scopes"} {
		var c ideafile.Call
		f := s.tool.ReadOutputMeta(&c, map[string]any{k: s.raw[k]})
		if f != nil && s.raw[k] != nil {
			p.addCallError(s, jsonval.JSONPathKey(s.path, k), "%s", f.Message)
		}
		if c.OutputMethod != "" {
			s.method = c.OutputMethod
		}
	}
	var c ideafile.Call
	if f := s.tool.ReadLatentResult(&c, s.raw, p.palette.Bindings[s.tool.Name].Kind); f != nil {
		p.addCallError(s, s.path+"._output", "%s", f.Message)
	}
}

// readPlanOutput reads the output of a Plan that runs without a Request as a step behind all Calls that only reads.
func (p *planChecker) readPlanOutput(m locatedMessage) *planStep {
	s := &planStep{path: m.path + ".output", index: len(m.Calls), instances: p.palette.InstanceTokens}
	p.collectReferences(s, s.path, m.Source["output"], nil)
	return s
}
