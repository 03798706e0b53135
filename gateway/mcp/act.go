package mcp

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"strings"
	"time"

	"processidea/client"
	"processidea/client/ideafiles"
	"processidea/client/simulation"
	"processidea/gateway/access"
	"processidea/model/ideafile"
	"processidea/model/jsonschema"
	"processidea/model/jsonval"
)

// workerAnswerTimeout bounds how long a call waits for a worker, for example to process a decision.
const workerAnswerTimeout = 30 * time.Second

func (a *personServer) processCreationTools() []tool {
	tools := []tool{
		{"fork_process",
			"Starts a new process that goes on where another one stood in an Idea. The other one is left as it is.",
			`{"type": "object", "additionalProperties": false, "required": ["process", "at"], "properties": {` + processArgSchema + `,
			"at": {` + ideaNumberSchema + `, "description": "the number of the Idea"},
			"id": {"type": "string", "minLength": 1, "description": "of the new process; one is made up if left out"},
			"set": {"type": "array", "items": {"type": "string"},
				"description": "TOKEN:path=JSON: values that are put into State"},
			"unset": {"type": "array", "items": {"type": "string"},
				"description": "TOKEN:path: values that are taken out of State"},
			"reopen": {"type": "array", "items": {"type": "string"}, "description": "tokens of instances that are planned for anew; or all"}, ` +
				fmt.Sprintf(waitArgSchemaFormat, defaultWaitSeconds) + `}}`, false, a.fork}}
	ideaNames := []any{}
	ideaByName := map[string]startableIdea{}
	for _, s := range a.startableIdeas() {
		ideaNames, ideaByName[s.name] = append(ideaNames, s.name), s
		tools = append(tools, tool{"start_" + s.name, s.toolDescription(), startArgsSchema(s), false,
			func(ctx context.Context, args jsonval.Object) (any, error) {
				return a.start(ctx, s, args)
			}})
	}
	if len(ideaNames) > 0 {
		tools = append(tools, tool{"simulate",
			"Tries a process out: every Tool is played and nothing is touched. Tells what the process would come to, " +
				"and what it would cost.",
			jsonval.EncodeToString(jsonval.Object{
				"type": "object", "additionalProperties": false, "required": []any{"idea"},
				"properties": jsonval.Object{"idea": jsonval.Object{"enum": ideaNames}},
			}), false, func(ctx context.Context, args jsonval.Object) (any, error) {
				return a.simulate(ctx, ideaByName[textArg(args, "idea")])
			}})
	}
	return tools
}

func startArgsSchema(s startableIdea) string {
	inputSchema := jsonschema.RebaseRefs(s.inputSchema(), "#/properties/input")
	waitSchema, _ := jsonval.Decode([]byte("{" + fmt.Sprintf(waitArgSchemaFormat, defaultWaitSeconds) + "}"))
	properties := jsonval.Object{
		"input": inputSchema,
		"instances": jsonval.Object{"type": "array", "minItems": 1, "items": jsonval.Object{"type": "object"},
			"description": "in place of input: rows of data, each an instance's input; _instance names one"},
		"id": jsonval.Object{"type": "string", "minLength": 1,
			"description": "of the process: a call with the same id and data finds what it started; optional"},
	}
	maps.Copy(properties, waitSchema.(jsonval.Object))
	schema := jsonval.Object{"type": "object", "additionalProperties": false, "properties": properties}
	return jsonval.EncodeToString(schema)
}

func (a *personServer) start(ctx context.Context, s startableIdea, args jsonval.Object) (any, error) {
	o := client.StartOptions{ID: textArg(args, "id"), Idea: s.Idea, DelegateFiles: s.DelegateFiles,
		StartedBy: a.person.Name}
	input, hasInput := args["input"]
	rows, hasRows := args["instances"].([]any)
	switch {
	case hasInput && hasRows:
		return nil, errors.New("input and instances exclude each other")
	case hasInput:
		o.Idea = ideafiles.WithMessages(s.Idea,
			[]any{jsonval.Object{"type": ideafile.TypeInput, ideafile.TypeInput: input}})
	}
	for _, row := range rows {
		o.InstanceRows = append(o.InstanceRows, jsonval.AsObject(row))
	}
	if o.ID == "" {
		o.ID = client.NewProcessID(s.name)
	}
	p, err := a.Client.Start(ctx, o)
	return a.statusAfterStart(ctx, p, err, args)
}

// statusAfterStart waits a moment for the end of a process that was started. A person who may not look gets only its
// id, because a fork contains what another process worked on.
func (a *personServer) statusAfterStart(ctx context.Context, p *client.Process, startErr error,
	args jsonval.Object) (any, error) {
	if startErr != nil {
		return nil, startErr
	}
	if !a.person.May(access.Look) {
		return jsonval.Object{"process": p.ID()}, nil
	}
	return a.awaitStatus(ctx, p, numberArg(args, "wait", defaultWaitSeconds), "")
}

func (a *personServer) fork(ctx context.Context, args jsonval.Object) (any, error) {
	textListArg := func(key string) []string { l, _ := jsonval.AsStringList(args[key]); return l }
	changes := ideafiles.ForkChanges{ValuesToSet: textListArg("set"), ValuesToUnset: textListArg("unset"),
		InstanceTokensToReopen: textListArg("reopen")}
	p, err := a.Client.StartFork(ctx, textArg(args, "process"), numberArg(args, "at", 0), changes,
		client.StartOptions{ID: textArg(args, "id"), StartedBy: a.person.Name})
	return a.statusAfterStart(ctx, p, err, args)
}

// simulate runs a process in which made-up values replace all Tools. No LLM is asked either.
func (a *personServer) simulate(ctx context.Context, s startableIdea) (any, error) {
	prepared, _, err := simulation.Prepare(s.Source, a.Tools, simulation.Options{UsesOnlySchemas: true})
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	o := prepared.StartOptions(client.NewProcessID("simulated-" + s.name))
	o.StartedBy = a.person.Name
	p, err := a.Client.Start(ctx, o)
	if err != nil {
		return nil, err
	}
	if _, err := a.Feed.AwaitEnd(ctx, p.ID()); err != nil {
		return nil, err
	}
	ctx, cancel = context.WithTimeout(context.WithoutCancel(ctx), workerAnswerTimeout)
	defer cancel()
	r, err := p.Snapshot(ctx)
	if err != nil {
		return nil, err
	}
	return prepared.Report(ctx, a.Client, p, r)
}

func (a *personServer) decideTool() tool {
	return tool{"decide", "Decides on a Call that waits for a person, for the person whose token this is. " +
		"Do it only where that person told you what to decide on this very Call.",
		`{"type": "object", "additionalProperties": false, "required": ["process", "call", "digest", "decision"], "properties": {` + processArgSchema + `,
			"call": {"type": "string", "minLength": 1, "description": "the id of the Call, as list_approvals has it"},
			"digest": {"type": "string", "minLength": 64, "maxLength": 64, "description": "as list_approvals has it"},
			"decision": {"enum": ["approve", "reject", "amend"]},
			"reason": {"type": "string", "description": "why; reject needs one"},
			"params": {"type": "object", "description": "of amend: the parameters that change"}}}`, false, a.decide}
}

var errNeedsSignature = errors.New("this Call needs a signed decision, which only a person can take")

func (a *personServer) decide(ctx context.Context, args jsonval.Object) (any, error) {
	ctx, cancel := context.WithTimeout(ctx, workerAnswerTimeout)
	defer cancel()
	p, err := a.Client.Attach(ctx, textArg(args, "process"))
	if err != nil {
		return nil, err
	}
	pendingApprovals, err := p.Approvals(ctx)
	if err != nil {
		return nil, err
	}
	for _, w := range pendingApprovals {
		if w.Digest != textArg(args, "digest") || !ideafile.MatchesCallID(textArg(args, "call"), w.CallID) {
			continue
		}
		if w.Deciders.RequiresSignature() {
			return nil, errNeedsSignature
		}
		// The decision has no key, because only people may sign.
		d := client.Decision{
			Kind: textArg(args, "decision"), CallID: w.CallID, ApprovalDigest: w.Digest, By: a.person.Name,
			Groups: a.person.Groups,
			Reason: strings.TrimSuffix("an agent decided: "+textArg(args, "reason"), ": "),
		}
		if params, ok := args["params"].(jsonval.Object); ok {
			d.Value = params
		}
		if d.Kind == client.Reject && textArg(args, "reason") == "" {
			return nil, errors.New("reject needs a reason")
		}
		votes, err := p.DecideAndCountVotes(ctx, d)
		if err != nil {
			return nil, err
		}
		a.NoteChange(p.ID())
		return jsonval.Object{"taken": votes}, nil
	}
	return nil, fmt.Errorf("no Call with this digest waits in %s: see list_approvals", p.ID())
}
