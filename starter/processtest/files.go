package processtest

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"processidea/client"
	"processidea/client/ideafiles"
	"processidea/model/ideafile"
	"processidea/model/jsonschema"
	"processidea/model/jsonval"
)

// loadDefinition reads the files of the process as `starter run` does. Tools that have a fake are run by it.
func (s *startSettings) loadDefinition(t testing.TB, path string,
	tools ideafiles.WorkerTools) (*ideafiles.Definition, error) {
	t.Helper()
	source, err := ideafiles.Find(path, "", "")
	if err != nil {
		return nil, err
	}
	if s.repliesText != nil {
		source.RepliesPath = filepath.Join(t.TempDir(), "replies given by the test")
		err = os.WriteFile(source.RepliesPath, []byte(*s.repliesText), 0o600)
	}
	if s.replacesInstanceRows {
		source.InstancesPath = ""
	}
	if len(s.instanceRows) > 0 && err == nil {
		source.InstancesPath = filepath.Join(t.TempDir(), "rows given by the test.jsonl")
		err = os.WriteFile(source.InstancesPath, jsonLines(s.instanceRows), 0o600)
	}
	if err != nil {
		return nil, err
	}
	d, problems, err := ideafiles.LoadAndChange(source, tools, func(d *ideafiles.Definition) {
		d.Idea = s.withFakes(d.Idea)
		d.ParsedIdea, _ = ideafile.ReadIdea(d.Idea) // it was valid before
	})
	if err != nil {
		return nil, err
	}
	if errs := problems.Errors(); len(errs) > 0 {
		return nil, &client.InvalidError{Source: path, Problems: errs}
	}
	for _, p := range problems {
		t.Logf("%s: %s", path, p)
	}
	for delegatePath, file := range d.DelegateFiles {
		if idea, ok := file.(jsonval.Object); ok {
			d.DelegateFiles[delegatePath] = s.withFakes(idea)
		}
	}
	return d, s.checkFakedTools(d)
}

func jsonLines(rows []jsonval.Object) []byte {
	var lines []byte
	for _, row := range rows {
		lines = append(append(lines, jsonval.Encode(jsonval.ToJSONValue(row))...), '\n')
	}
	return lines
}

// withFakes returns a copy of an Idea whose Tools are run by their fakes.
func (s *startSettings) withFakes(idea jsonval.Object) jsonval.Object {
	tools := toolsOfIdea(idea)
	toolsWithFakes := jsonval.Object{}
	maps.Copy(toolsWithFakes, tools)
	for _, name := range s.fakedToolNames {
		toolSource, ok := tools[name].(jsonval.Object)
		if !ok && (!s.omitsMCPServers || !hasMCPServers(idea)) {
			continue
		}
		if !ok {
			fake, _ := s.fakes.Lookup(fakeName(name))
			paramsSchema, keyOrder, _ := jsonval.DecodeWithKeyOrder(fake.ParametersSchema, jsonval.DefaultLimits)
			jsonschema.StoreSourceKeyOrder(paramsSchema, keyOrder)
			toolSource = jsonval.AsObject(paramsSchema)
		}
		toolSource = maps.Clone(toolSource)
		delete(toolSource, "_delegate")
		delete(toolSource, "_writes")
		toolSource["_activity"] = fakeName(name)
		toolsWithFakes[name] = toolSource
	}
	if len(toolsWithFakes) == 0 && !s.omitsMCPServers {
		return idea
	}
	idea, schema := maps.Clone(idea), maps.Clone(jsonval.AsObject(idea["schema"]))
	if schema == nil {
		schema = jsonval.Object{}
	}
	schema["tools"], idea["schema"] = toolsWithFakes, schema
	if s.omitsMCPServers && hasMCPServers(idea) {
		config := maps.Clone(jsonval.AsObject(idea["config"]))
		delete(config, "mcp")
		idea["config"] = config
	}
	return idea
}

func hasMCPServers(idea jsonval.Object) bool { return jsonval.Lookup(idea, "config", "mcp") != nil }

func toolsOfIdea(idea jsonval.Object) jsonval.Object {
	return jsonval.AsObject(jsonval.Lookup(idea, "schema", "tools"))
}

// checkFakedTools refuses a fake for a Tool that neither the Idea nor a delegate has.
func (s *startSettings) checkFakedTools(d *ideafiles.Definition) error {
	tools := maps.Clone(toolsOfIdea(d.Idea))
	for _, file := range d.DelegateFiles {
		idea := jsonval.AsObject(file)
		maps.Copy(tools, toolsOfIdea(idea))
	}
	var errs []error
	for _, name := range s.fakedToolNames {
		if tools[name] == nil {
			errs = append(errs, fmt.Errorf("fake %s: the Idea has no Tool of this name; it has %s", name,
				strings.Join(jsonval.SortedKeys(tools), ", ")))
		}
	}
	return errors.Join(errs...)
}
