package runner

import (
	"fmt"
	"strings"

	"processidea/model/diag"
	"processidea/model/ideafile"
	"processidea/model/jsonval"
)

// Registry finds the Runner of a kind of Tool.
type Registry struct{ runnerByKind map[ideafile.ToolKind]Runner }

// NewRegistry returns a Registry without kinds.
func NewRegistry() *Registry { return &Registry{runnerByKind: map[ideafile.ToolKind]Runner{}} }

// Register adds a kind. It panics if the kind is taken, is empty, or is carried out by workflows.
func (r *Registry) Register(kind ideafile.ToolKind, x Runner) {
	if kind == "" || !kind.HasRunner() {
		panic(fmt.Sprintf("runner: register kind %q: no kind that can be registered", kind))
	}
	if _, exists := r.runnerByKind[kind]; exists {
		panic(fmt.Sprintf("runner: register kind %q: it is taken", kind))
	}
	r.runnerByKind[kind] = x
}

// Lookup finds the Runner of a kind.
func (r *Registry) Lookup(kind ideafile.ToolKind) (Runner, bool) {
	x, ok := r.runnerByKind[kind]
	return x, ok
}

// Validate returns the error in a Tool's spec of a kind: an *UnknownKindError, or the error of the kind's Runner.
func (r *Registry) Validate(kind ideafile.ToolKind, spec any) error {
	x, ok := r.runnerByKind[kind]
	if !ok {
		return r.NewUnknownKindError(kind)
	}
	return x.Validate(spec)
}

// CheckTool returns the problems that the Runner of a kind finds in a Tool with a valid spec.
func (r *Registry) CheckTool(kind ideafile.ToolKind, t *ideafile.Tool, spec any) diag.Problems {
	if x, ok := r.runnerByKind[kind].(ToolChecker); ok {
		return x.CheckTool(t, spec)
	}
	return nil
}

// MissingRequirements returns what this worker lacks for the Calls of a Tool, from the Tool's Runner.
func (r *Registry) MissingRequirements(kind ideafile.ToolKind, spec any) []error {
	if x, ok := r.runnerByKind[kind].(RequirementsChecker); ok {
		return x.MissingRequirements(spec)
	}
	return nil
}

// NewUnknownKindError returns the error for a kind that is not registered.
func (r *Registry) NewUnknownKindError(kind ideafile.ToolKind) error {
	e := &UnknownKindError{Kind: kind}
	for _, k := range jsonval.SortedKeys(r.runnerByKind) {
		if k != ideafile.KindGo { // a Tool names a Go function itself, without a kind
			e.KnownKinds = append(e.KnownKinds, string(k))
		}
	}
	return e
}

// UnknownKindError means that no Runner is registered under a kind.
type UnknownKindError struct {
	Kind       ideafile.ToolKind
	KnownKinds []string
}

// Error names the kind and the known kinds.
func (e *UnknownKindError) Error() string {
	return fmt.Sprintf("no tools of the kind %q are known; known kinds are %s", e.Kind,
		strings.Join(e.KnownKinds, ", "))
}
