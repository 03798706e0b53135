package setup

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"processidea/client/ideafiles"
	"processidea/model/jsonval"
	"processidea/starter/internal/app"
	"processidea/starter/internal/exit"
	"processidea/starter/internal/print"
	"processidea/tools/httptool"
	"processidea/tools/httptool/openapi"
)

// Tools makes Tools from descriptions in other formats.
func Tools(a *app.App) *cobra.Command {
	c := &cobra.Command{
		Use:     "tools",
		Short:   "Make Tools from descriptions in other formats",
		Example: `  starter tools import petshop.yaml > tools.json`,
		RunE:    func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	c.AddCommand(importToolsCommand(a))
	return c
}

func importToolsCommand(a *app.App) *cobra.Command {
	var o openapi.Options
	var outputFile string
	c := app.NewCommand("import FILE", "Make HTTP tools from the operations of an OpenAPI document",
		`Make HTTP tools from the operations of an OpenAPI document, 3.0 or 3.1, JSON or YAML.
It prints {"tools": {…}}, as it stands under "schema" of an Idea file.
Nothing is ever loaded: a document that refers to other files is refused.

Standard error names what cannot be taken over, the variables that the document's security
schemes need, and the hosts for PROCESSIDEA_HTTP_ALLOW.

A person is asked before every operation that may change something (POST, PUT, PATCH,
DELETE): its Tool has "_approval": true. --approve all asks before every operation,
--approve none before none.`,
		`  starter tools import petshop.yaml > tools.json
  starter tools import openapi.json --only listPets,addPet --server https://pets.example/v2
  starter tools import openapi.json --server '$env:PETS_URL' --secrets PETS_ -o tools.json`,
		func(_ context.Context, args []string) error { return importTools(a, args[0], outputFile, o) })
	f := c.Flags()
	f.StringVar(&o.ServerURL, "server", "", "`URL` of the API, or $env:NAME (default the document's first server)")
	f.StringSliceVar(&o.OperationNames, "only", nil, "only these operationIds or names of Tools")
	f.StringVar(&o.ApprovalMode, "approve", openapi.ApproveWrites,
		"before which operations a person is asked: writes, all or none")
	f.StringVar(&o.SecretPrefix, "secrets", "", "`PREFIX` of the variables that hold secrets")
	f.StringVarP(&outputFile, "output", "o", "", "`FILE` to write, instead of standard output")
	return c
}

// importedTools is the output of tools import --json.
type importedTools struct {
	Tools               map[string]any    `json:"tools"`
	Notes               []string          `json:"notes"`
	DescriptionBySecret map[string]string `json:"secrets"`
	Hosts               []string          `json:"hosts"`
}

func importTools(a *app.App, file, outputFile string, o openapi.Options) error {
	data, err := ideafiles.ReadFileAsUTF8(file)
	if err != nil {
		return err
	}
	r, err := openapi.Import(data, o)
	if err != nil {
		return exit.Usagef("import %s: %s", file, strings.TrimPrefix(err.Error(), "openapi: "))
	}
	text, err := importedToolsText(a, r)
	if err != nil {
		return err
	}
	if outputFile != "" {
		err = os.WriteFile(outputFile, text, 0o600)
	} else {
		_, err = a.Out.Write(text)
	}
	if err != nil {
		return exit.Usagef("write tools: %w", ideafiles.WithoutPath(err))
	}
	explainImport(a, file, r)
	return nil
}

func importedToolsText(a *app.App, r *openapi.Result) ([]byte, error) {
	var b strings.Builder
	if a.WritesJSON {
		notes := append([]string{}, r.Notes...)
		err := print.WriteJSON(&b, importedTools{r.Tools, notes, r.DescriptionBySecret,
			append([]string{}, r.HostsToAllow...)})
		return []byte(b.String()), err
	}
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	err := e.Encode(map[string]any{"tools": r.Tools})
	return []byte(b.String()), err
}

// explainImport says what was not imported, and what the Tools need where the worker runs.
func explainImport(a *app.App, file string, r *openapi.Result) {
	for _, n := range r.Notes {
		a.Note("import %s: %s", file, n)
	}
	text := fmt.Sprintf("import %s: %s", file, print.Plural(len(r.Tools), "Tool"))
	var neededSecrets []string
	toolOrigins := map[string]bool{}
	for _, tool := range r.Tools {
		toolOrigins[httptool.SecretHostOf(jsonval.AsText(jsonval.Lookup(tool, "_activity", "http", "url")))] = true
	}
	secretHost := "HOST"
	if len(toolOrigins) == 1 {
		secretHost = jsonval.SortedKeys(toolOrigins)[0]
	}
	for _, name := range jsonval.SortedKeys(r.DescriptionBySecret) {
		neededSecrets = append(neededSecrets, fmt.Sprintf("%s@%s (%s)", name, secretHost, r.DescriptionBySecret[name]))
	}
	if len(neededSecrets) > 0 {
		text += "; the worker needs " + strings.Join(neededSecrets, ", ") + ", named in " + httptool.SecretsVariable
	}
	if len(r.HostsToAllow) > 0 {
		text += fmt.Sprintf("; %s must name %s", httptool.AllowListVariable, strings.Join(r.HostsToAllow, ","))
	}
	a.Note("%s", text)
}
