package mcp

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"time"

	"processidea/client"
	"processidea/gateway/api"
	"processidea/model/ideafile/spelling"
	"processidea/model/jsonval"
	"processidea/model/loop"
)

const processArgSchema = `"process": {"type": "string", "minLength": 1, "description": "the id of a process"}`

// ideaNumberSchema is the schema of the number of an Idea.
const ideaNumberSchema = `"type": "integer", "minimum": 1, "maximum": 2147483647`

// waitArgSchemaFormat is the schema of how many seconds a call waits.
const waitArgSchemaFormat = `"wait": {"type": "integer", "minimum": 0, "maximum": 60, "description": "seconds to wait for the end; %d if left out"}`

const (
	defaultWaitSeconds = 10 // seconds
	maxListedProcesses = 50
)

func (a *personServer) readOnlyTools() []tool {
	return []tool{
		{"list_processes", "Lists processes, the latest first.", `{"type": "object", "additionalProperties": false, "properties": {
			"status": {"enum": ["running", "paused", "completed", "failed", "cancelled"]},
			"path": {"type": "string", "description": "only those of this Idea"},
			"awaiting": {"type": "boolean", "description": "only those in which a Call waits for a person"}}}`, true,
			a.listProcesses},
		{"get_process", "Tells where a process stands: what it waits for, and once it has ended its output and the " +
			"State of its instances.",
			`{"type": "object", "additionalProperties": false, "required": ["process"], "properties": {` +
				processArgSchema + `, ` +
				fmt.Sprintf(waitArgSchemaFormat, 0) +
				`, "instance": {"type": "string", "description": "only this instance, by its token"}}}`, true,
			a.getProcess},
		{"list_approvals", "Lists the Calls that wait for a person, in one process or in all.",
			`{"type": "object", "additionalProperties": false, "properties": {` + processArgSchema + `}}`, true,
			a.listApprovals},
		{"list_ideas", "Lists the Ideas of a process's chain: what it knew and had planned after each Request.",
			`{"type": "object", "additionalProperties": false, "required": ["process"], "properties": {` +
				processArgSchema + `}}`, true, a.listIdeas},
		{"show_idea", "Gives an Idea of a process whole.",
			`{"type": "object", "additionalProperties": false, "required": ["process"], "properties": {` +
				processArgSchema +
				fmt.Sprintf(`, "at": {%s, "description": "its number; the latest if left out"}}}`, ideaNumberSchema),
			true, a.loadIdea},
		{"diff_ideas", "Tells how two Ideas of a process differ: values, Calls, decisions.",
			`{"type": "object", "additionalProperties": false, "required": ["process", "from", "to"], "properties": {` +
				processArgSchema + fmt.Sprintf(`, "from": {%s}, "to": {%[1]s}}}`, ideaNumberSchema), true, a.diffIdeas},
	}
}

func textArg(args jsonval.Object, key string) string { s, _ := args[key].(string); return s }

// numberArg returns a number from 0 to jsonval.MaxCount, as the tool's schema demands. Agents also write 3 as 3.0.
func numberArg(args jsonval.Object, key string, fallback int) int {
	v, given := args[key]
	if !given {
		return fallback
	}
	n, _ := jsonval.ReadPositiveInt(v) // 0 is none
	return n
}

func (a *personServer) listProcesses(ctx context.Context, args jsonval.Object) (any, error) {
	awaiting, _ := args["awaiting"].(bool)
	filter := client.ProcessFilter{Status: loop.Status(textArg(args, "status")), ProcessPath: textArg(args, "path"),
		OnlyAwaitingPeople: awaiting}
	page, err := a.Client.ListPage(ctx, filter, maxListedProcesses, nil)
	if err != nil {
		return nil, err
	}
	return jsonval.Object{"processes": page.Processes, "more": len(page.NextPageToken) > 0}, nil
}

func (a *personServer) getProcess(ctx context.Context, args jsonval.Object) (any, error) {
	p, err := a.Client.Attach(ctx, textArg(args, "process"))
	if err != nil {
		return nil, err
	}
	return a.awaitStatus(ctx, p, numberArg(args, "wait", 0), textArg(args, "instance"))
}

// awaitStatus returns the status of a process, after waiting for its end for a while.
func (a *personServer) awaitStatus(ctx context.Context, p *client.Process, waitSeconds int,
	instanceToken string) (any, error) {
	ended, err := a.Feed.AwaitEndWithin(ctx, p, time.Duration(waitSeconds)*time.Second)
	if err != nil {
		return nil, err
	}
	if !ended {
		if v, err := p.Status(ctx); err == nil && instanceToken == "" {
			return withHint(v), nil
		}
	}
	r, err := p.Snapshot(ctx)
	if ended {
		r, err = p.Result(ctx)
	}
	if errors.Is(err, client.ErrNoWorker) {
		return jsonval.Object{"process": p.ID(), "status": r.Status, "waiting": []string{err.Error()}}, nil
	}
	if err != nil {
		return nil, err
	}
	if instanceToken != "" {
		maps.DeleteFunc(r.Instances,
			func(token string, _ loop.InstanceResult) bool {
				return !spelling.MatchesInstanceToken(instanceToken, token)
			})
		if len(r.Instances) == 0 {
			return nil, fmt.Errorf("process %s has no instance %s", p.ID(), instanceToken)
		}
	}
	return r, nil
}

type statusReply struct {
	client.Status
	Hint string `json:"next"`
}

func withHint(v client.Status) any {
	hint := "it is at work: ask get_process again later"
	if v.PendingDecisionCount > 0 {
		hint = "people decide on what list_approvals shows: ask get_process again later"
	}
	return statusReply{v, hint}
}

func (a *personServer) listApprovals(ctx context.Context, args jsonval.Object) (any, error) {
	if id := textArg(args, "process"); id != "" {
		return a.ApprovalsWithDelegates(ctx, id)
	}
	allApprovals, err := a.AllWaitingForPeople(ctx)
	return api.ApprovalList{Approvals: allApprovals.Approvals, UnansweredProcessIDs: allApprovals.UnansweredProcessIDs},
		err
}

func (a *personServer) listIdeas(ctx context.Context, args jsonval.Object) (any, error) {
	links, err := a.Client.Chain(textArg(args, "process")).Ideas(ctx)
	return jsonval.Object{"ideas": links}, err
}

func (a *personServer) loadIdea(ctx context.Context, args jsonval.Object) (any, error) {
	return a.Client.Chain(textArg(args, "process")).Load(ctx, numberArg(args, "at", 0))
}

func (a *personServer) diffIdeas(ctx context.Context, args jsonval.Object) (any, error) {
	return a.Client.Chain(textArg(args, "process")).Diff(ctx, numberArg(args, "from", 0), numberArg(args, "to", 0))
}
