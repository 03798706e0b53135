package delegate

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"processidea/model/diag"
	"processidea/model/ideafile"
	"processidea/model/jsonval"
)

// MaxDepth bounds how deep delegates may nest, in levels.
const MaxDepth = 5

// ResolveFileKey returns the key of a file of a delegate or an instruction: its path from the folder of the first Idea
// file. fromFileKey is the key of the file that names it; empty for the first one. A file outside of that folder is an
// error.
func ResolveFileKey(fromFileKey, name string) (string, error) {
	key := path.Join(path.Dir(fromFileKey), name)
	if path.IsAbs(name) || strings.Contains(name, `\`) || key == ".." || strings.HasPrefix(key, "../") {
		return "", fmt.Errorf("an Idea may only name files in the folder of the Idea file or below it, not %q",
			jsonval.ClipForError(name))
	}
	return key, nil
}

// ExtractFiles returns an Idea's source without the files that it carries, and all files by key: the files that it
// carries, the given files, and the files that these carry in turn. Two different files with one key are a problem, so
// that neither silently runs in place of the other.
func ExtractFiles(source, extraFiles jsonval.Object) (ideaWithoutFiles, files jsonval.Object, ps diag.Problems) {
	t := &fileExtractor{filesByKey: jsonval.Object{}}
	ideaWithoutFiles = t.extractFiles(source, "", "$")
	for key, file := range jsonval.Sorted(extraFiles) {
		t.addFile(key, file, key+": $")
	}
	return ideaWithoutFiles, t.filesByKey, t.problems
}

type fileExtractor struct {
	filesByKey jsonval.Object
	problems   diag.Problems
}

// extractFiles collects the files that an Idea carries, and returns its source without them. fromFileKey is the key of
// the Idea's own file, and jsonPath is the place of the Idea.
func (t *fileExtractor) extractFiles(source jsonval.Object, fromFileKey, jsonPath string) jsonval.Object {
	delegates, ok := source[ideafile.DelegatesKey].(jsonval.Object)
	if !ok {
		return source // ReadIdea reports any other type
	}
	for name, file := range jsonval.Sorted(delegates) {
		entryPath := jsonval.JSONPathWithKey(jsonPath+"."+ideafile.DelegatesKey, name)
		key, err := fromFileKey+name, error(nil)
		if !strings.HasPrefix(name, resumedKeyPrefix) { // else it is no file; see ResumedIdeaKey
			key, err = ResolveFileKey(fromFileKey, name)
		}
		if err != nil {
			t.problems.Add(entryPath, "%s", err)
			continue
		}
		t.addFile(key, file, entryPath)
	}
	return jsonval.WithoutKey(source, ideafile.DelegatesKey)
}

func (t *fileExtractor) addFile(key string, file any, jsonPath string) {
	if idea, ok := file.(jsonval.Object); ok {
		file = t.extractFiles(idea, key, jsonPath)
	}
	existing := t.filesByKey[key]
	if existing != nil && !jsonval.Equal(ideafile.WithoutParamOrder(existing), ideafile.WithoutParamOrder(file)) {
		t.problems.Add(jsonPath, "there are two files %s, which differ", key)
		return
	}
	t.filesByKey[key] = file
}

const resumedKeyPrefix = "~call:"

// ResumedIdeaKey is the key of the Idea from which a Call's delegate resumes in a fork of the process that started the
// delegate. If that process is a delegate itself, fromFileKey is the key of the Idea from which it resumes. So two
// Calls with one id have two keys. The key names no file: the files in a delegate's Idea are named from the folder of
// the first file.
func ResumedIdeaKey(fromFileKey, callID string) string {
	return fromFileKey + resumedKeyPrefix + ideafile.TypeableCallID(callID)
}

// HasResumedIdea reports whether an Idea carries the Idea from which a Call's delegate resumes.
func HasResumedIdea(source jsonval.Object, callID string) bool {
	return jsonval.AsObject(source[ideafile.DelegatesKey])[ResumedIdeaKey("", callID)] != nil
}

// HasResumedIdeas reports whether an Idea carries an Idea from which the delegate of any Call resumes.
func HasResumedIdeas(source jsonval.Object) bool {
	for key := range jsonval.AsObject(source[ideafile.DelegatesKey]) {
		if strings.HasPrefix(key, resumedKeyPrefix) {
			return true
		}
	}
	return false
}

// WithResumedIdea returns an Idea's source that carries the Idea from which a Call's delegate resumes.
func WithResumedIdea(source jsonval.Object, callID string, resumedIdea jsonval.Object) jsonval.Object {
	delegates := jsonval.WithKey(jsonval.AsObject(source[ideafile.DelegatesKey]), ResumedIdeaKey("", callID),
		resumedIdea)
	return jsonval.WithKey(source, ideafile.DelegatesKey, delegates)
}

// WithFiles returns an Idea's source with the files that its delegates need. It replaces their names in the Tools by
// their keys, since the source may have been a delegate in a folder below that of the first file. ownFileKey is the key
// of the Idea's file.
func WithFiles(source jsonval.Object, ownFileKey string, files jsonval.Object) jsonval.Object {
	neededFiles := jsonval.Object{}
	addNeededFiles(neededFiles, source, ownFileKey, files)
	if len(neededFiles) == 0 {
		return source
	}
	out := jsonval.WithKey(source, ideafile.DelegatesKey, neededFiles)
	if path.Dir(ownFileKey) == "." {
		return out
	}
	tools := jsonval.Object{}
	for name, tool := range jsonval.Sorted(toolSourcesOf(source)) {
		if key := fileKeyOfTool(tool, ownFileKey); key != "" {
			tool = jsonval.WithKey(jsonval.AsObject(tool), "_delegate", key)
		}
		tools[name] = tool
	}
	return ideafile.WithTools(out, tools)
}

func addNeededFiles(neededFiles, source jsonval.Object, fromFileKey string, files jsonval.Object) {
	for _, tool := range jsonval.Sorted(toolSourcesOf(source)) {
		key := fileKeyOfTool(tool, fromFileKey)
		if key == "" || neededFiles[key] != nil || files[key] == nil {
			continue
		}
		neededFiles[key] = files[key]
		addNeededFiles(neededFiles, jsonval.AsObject(files[key]), key, files)
	}
}

func toolSourcesOf(source jsonval.Object) jsonval.Object {
	return jsonval.AsObject(jsonval.Lookup(source, "schema", "tools"))
}

// fileKeyOfTool returns the key of the file that a Tool's delegate runs; empty if it runs none.
func fileKeyOfTool(tool any, fromFileKey string) string {
	name := jsonval.AsText(jsonval.AsObject(tool)["_delegate"])
	key, err := ResolveFileKey(fromFileKey, name)
	if name == "" || name == ideafile.AnonymousDelegate || err != nil {
		return ""
	}
	return key
}

// AnyToolRunsFile reports whether a Tool of the Idea runs an Idea file.
func AnyToolRunsFile(i *ideafile.Idea) bool {
	return slices.ContainsFunc(i.Tools, func(t *ideafile.Tool) bool {
		return t.DelegateFile != "" && t.DelegateFile != ideafile.AnonymousDelegate
	})
}

// CheckFiles returns the problems of the files that an Idea's delegates run: missing or broken files, cycles, and
// delegates that nest deeper than MaxDepth. files are by key, and rootFileKey is the key of the Idea's own file.
func CheckFiles(i *ideafile.Idea, rootFileKey string, files jsonval.Object) diag.Problems {
	c := &fileChecker{rootFileKey: rootFileKey, rawFilesByKey: files, ideaByFileKey: map[string]*ideafile.Idea{},
		isChecked: map[fileAtDepth]bool{}, isParentSimulated: i.Simulation != nil}
	c.checkIdea(i, rootFileKey, []string{rootFileKey})
	return c.problems
}

type fileChecker struct {
	rootFileKey       string
	rawFilesByKey     jsonval.Object
	ideaByFileKey     map[string]*ideafile.Idea // by key; nil for one that is broken
	isChecked         map[fileAtDepth]bool
	isParentSimulated bool // the Idea that starts the delegates is a simulation
	problems          diag.Problems
}

// fileAtDepth is a file at a depth. Its subtree is the same on every path to it, and there may be thousands of paths.
type fileAtDepth struct {
	fileKey string
	depth   int
}

// checkInstructionFiles reports instructions without their files.
func (c *fileChecker) checkInstructionFiles(i *ideafile.Idea, parentFileKey string) {
	for n, raw := range jsonval.AsList(i.Source["context"]) {
		name := ideafile.UnreadInstructionFile(raw)
		if name == "" {
			continue
		}
		messagePath := c.jsonPathInFile(parentFileKey, fmt.Sprintf("$.context[%d].%s", n, ideafile.InstructionFileKey))
		if key, err := ResolveFileKey(parentFileKey, name); err != nil {
			c.problems.Add(messagePath, "%s", err)
		} else {
			c.problems.Add(messagePath, missingFileText, key)
		}
	}
}

const missingFileText = "the process is started without the file %s"

// jsonPathInFile prefixes a place with its file, except for the first file.
func (c *fileChecker) jsonPathInFile(fileKey, jsonPath string) string {
	if fileKey == c.rootFileKey {
		return jsonPath
	}
	return fileKey + ": " + jsonPath
}

func (c *fileChecker) checkIdea(i *ideafile.Idea, parentFileKey string, ancestorFileKeys []string) {
	c.checkInstructionFiles(i, parentFileKey)
	for _, t := range i.Tools {
		if t.DelegateFile == "" || (t.DelegateFile == ideafile.AnonymousDelegate && len(ancestorFileKeys) <= MaxDepth) {
			continue
		}
		toolPath := c.jsonPathInFile(parentFileKey, t.JSONPath()+"._delegate")
		key, err := ResolveFileKey(parentFileKey, t.DelegateFile)
		switch {
		case err != nil:
			c.problems.Add(toolPath, "%s", err)
		case len(ancestorFileKeys) > MaxDepth:
			c.problems.Add(toolPath, "delegates are nested more than %d deep", MaxDepth)
		case slices.Contains(ancestorFileKeys, key):
			c.problems.Add(toolPath, "%s is its own delegate: %s", key,
				strings.Join(append(slices.Clip(ancestorFileKeys), key), ", "))
		case c.rawFilesByKey[key] == nil:
			c.problems.Add(toolPath, missingFileText, key)
		default:
			c.checkFile(key, ancestorFileKeys)
		}
	}
}

func (c *fileChecker) checkFile(key string, ancestorFileKeys []string) {
	atDepth := fileAtDepth{key, len(ancestorFileKeys)}
	if c.isChecked[atDepth] {
		return
	}
	c.isChecked[atDepth] = true
	idea, isRead := c.ideaByFileKey[key]
	if !isRead {
		idea = c.readFile(key)
		c.ideaByFileKey[key] = idea
	}
	if idea != nil {
		c.checkIdea(idea, key, append(slices.Clip(ancestorFileKeys), key))
	}
}

// readFile returns nil for a file that is broken.
func (c *fileChecker) readFile(key string) *ideafile.Idea {
	raw := c.rawFilesByKey[key]
	if source, ok := raw.(jsonval.Object); ok {
		raw = WithInstructions(source, key, c.rawFilesByKey)
	}
	idea, problems := ideafile.ReadIdea(raw)
	errs := problems.Errors()
	for _, p := range errs {
		jsonPath := p.JSONPath
		if strings.HasPrefix(jsonPath, "$") {
			jsonPath = key + ": " + jsonPath
		}
		// an instruction's file may be named again
		c.problems.AppendNew(diag.Problem{JSONPath: jsonPath, Message: p.Message})
	}
	if len(errs) > 0 {
		return nil
	}
	if idea.Simulation != nil && !c.isParentSimulated {
		c.problems.Add(key+": $.meta.simulated", "it is a simulation: its values are made up")
	}
	return idea
}
