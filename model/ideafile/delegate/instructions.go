package delegate

import (
	"processidea/model/ideafile"
	"processidea/model/jsonval"
)

// WithInstructions returns an Idea's source whose messages include the content of the instruction files that they name.
// own is the key of the Idea's file. Content that a message has already stays. CheckFiles reports missing files.
func WithInstructions(source jsonval.Object, own string, files jsonval.Object) jsonval.Object {
	filled := FillInstructions(jsonval.AsList(source["context"]), own, files)
	if filled == nil {
		return source
	}
	return jsonval.WithKey(source, "context", filled)
}

// FillInstructions is WithInstructions for messages; nil if none of them changes.
func FillInstructions(context []any, own string, files jsonval.Object) (filled []any) {
	for n, raw := range context {
		key, err := ResolveFile(own, ideafile.UnreadInstructionFile(raw))
		if content := files[key]; err == nil && content != nil {
			if filled == nil {
				filled = append(filled, context...)
			}
			filled[n] = jsonval.WithKey(jsonval.AsObject(raw), ideafile.InstructionContentKey, content)
		}
	}
	return filled
}

// InstructionFiles lists the keys of the instruction files that messages name without including their content.
func InstructionFiles(context []any, own string) (keys []string) {
	for _, raw := range context {
		if name := ideafile.UnreadInstructionFile(raw); name != "" {
			if key, err := ResolveFile(own, name); err == nil {
				keys = append(keys, key)
			}
		}
	}
	return keys
}
