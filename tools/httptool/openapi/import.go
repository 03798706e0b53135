package openapi

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"processidea/model/diag"
	"processidea/model/ideafile"
	"processidea/model/jsonval"
	"processidea/tools/httptool"
)

// Options configure the import of a document.
type Options struct {
	// ServerURL is the address of the API, http(s)://… or $env:NAME; empty: the document's first server.
	ServerURL string
	// OperationNames names the wanted operations, by operationId or by the Tool's name; empty: all.
	OperationNames []string
	// ApprovalMode selects the operations that require a person's approval; empty: ApproveWrites.
	ApprovalMode string
	// SecretPrefix is the prefix of the names of environment variables with secrets.
	SecretPrefix string
}

// Values of Options.ApprovalMode.
const (
	ApproveWrites = "writes" // all except GET, HEAD and OPTIONS
	ApproveAll    = "all"
	ApproveNone   = "none"
)

// Result is the result of an import.
type Result struct {
	// Tools is the palette, for schema.tools of an Idea.
	Tools jsonval.Object
	// Notes list what was left out or changed, each with its place, by path.
	Notes []string
	// DescriptionBySecret are the environment variables that the Tools need, with their security schemes.
	DescriptionBySecret map[string]string
	// HostsToAllow are the hosts that PROCESSIDEA_HTTP_ALLOW must name.
	HostsToAllow []string
}

// Import makes Tools from an OpenAPI 3.0 or 3.1 document, in JSON or YAML. An error means that no Tool could be made.
// What could not be imported of a single operation is in the notes.
func Import(data []byte, o Options) (*Result, error) {
	if err := o.check(); err != nil {
		return nil, fmt.Errorf("openapi: import: %w", err)
	}
	root, err := decodeDocument(data)
	if err != nil {
		return nil, fmt.Errorf("openapi: read document: %w", err)
	}
	d, err := loadDocument(root, len(data))
	if err != nil {
		return nil, fmt.Errorf("openapi: read document: %w", err)
	}
	all := d.operations()
	if len(all) == 0 {
		text := strings.TrimSuffix("the document describes no operation: "+strings.Join(listedNotes(d.notes), "; "),
			": ")
		return nil, fmt.Errorf("openapi: import: %s", text)
	}
	chosenOperations, err := chooseOperations(all, o.OperationNames)
	if err != nil {
		return nil, fmt.Errorf("openapi: import: %w", err)
	}
	r := &Result{Tools: jsonval.Object{}, Notes: d.notes, DescriptionBySecret: map[string]string{}}
	hosts := map[string]bool{}
	for _, op := range chosenOperations {
		t, err := newToolBuilder(d, op, o)
		if err == nil {
			err = t.verify()
		}
		if err != nil {
			r.Notes = append(r.Notes, fmt.Sprintf("%s is left out: %s", op.methodAndPath(), err))
			continue
		}
		r.Tools[op.toolName] = t.asIdeaTool()
		r.Notes = append(r.Notes, t.notes...)
		maps.Copy(r.DescriptionBySecret, t.descriptionBySecret)
		hosts[t.allowListHost] = true
	}
	delete(hosts, "")
	r.HostsToAllow = jsonval.SortedKeys(hosts)
	r.Notes = listedNotes(r.Notes)
	if len(r.Tools) == 0 {
		return nil, fmt.Errorf("openapi: import: no Tool can be made from it: %s", strings.Join(r.Notes, "; "))
	}
	return r, nil
}

// listedNotes returns as many notes as people read, and how many more there are.
func listedNotes(notes []string) []string {
	if len(notes) <= diag.MaxListedProblems {
		return notes
	}
	return append(notes[:diag.MaxListedProblems:diag.MaxListedProblems],
		diag.AndMoreText(len(notes)-diag.MaxListedProblems))
}

func (o *Options) check() error {
	switch o.ApprovalMode {
	case "":
		o.ApprovalMode = ApproveWrites
	case ApproveWrites, ApproveAll, ApproveNone:
	default:
		return fmt.Errorf("approve %q: want %s, %s or %s",
			o.ApprovalMode, ApproveWrites, ApproveAll, ApproveNone)
	}
	if o.SecretPrefix != "" && !envNamePattern.MatchString(o.SecretPrefix) {
		return fmt.Errorf("secrets %q: want the beginning of a variable's name: A to Z, 0 to 9 and _", o.SecretPrefix)
	}
	if o.ServerURL != "" {
		if _, err := httptool.ParseSpec(jsonval.Object{"url": o.ServerURL}); err != nil ||
			strings.ContainsAny(o.ServerURL, "?{}") {
			return fmt.Errorf("server %q: want http://…, https://… or $env:NAME, without a query", o.ServerURL)
		}
	}
	return nil
}

// chooseOperations returns the requested operations.
func chooseOperations(all []*operation, wantedNames []string) ([]*operation, error) {
	if len(wantedNames) == 0 {
		return all, nil
	}
	chosenOperations := jsonval.Filter(all, func(op *operation) bool {
		return slices.Contains(wantedNames, op.toolName) ||
			(op.id() != "" && slices.Contains(wantedNames, op.id()))
	})
	for _, name := range wantedNames {
		if !slices.ContainsFunc(chosenOperations,
			func(op *operation) bool { return op.toolName == name || op.id() == name }) {
			return nil, fmt.Errorf("no operation %q; there are %s", name, listFirstNames(all))
		}
	}
	return chosenOperations, nil
}

// listFirstNames lists the first operations, for an error.
func listFirstNames(all []*operation) string {
	const maxNames = 20
	var names []string
	for _, op := range all[:min(len(all), maxNames)] {
		names = append(names, op.toolName)
	}
	text := strings.Join(names, ", ")
	if n := len(all) - maxNames; n > 0 {
		text += fmt.Sprintf(" and %d more", n)
	}
	return text
}

// verify checks a Tool by the rules of Idea files and of HTTP tools.
func (t *toolBuilder) verify() error {
	var ps diag.Problems
	toolSource := t.asIdeaTool()
	delete(toolSource, "_approval")
	ideafile.ReadTool(t.op.toolName, toolSource, "$", &ps)
	if errs := ps.Errors(); len(errs) > 0 {
		return errs
	}
	_, err := httptool.ParseSpec(t.httpSpec())
	return err
}
