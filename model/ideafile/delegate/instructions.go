package delegate

import (
	"processidea/model/ideafile"
	"processidea/model/jsonval"
)

// WithInstructions returns an Idea's source whose messages include the content of the instruction files that they name.
// ownFileKey is the key of the Idea's file. Content that a message has already stays. CheckFiles reports missing files.
func WithInstructions(source jsonval.Object, ownFileKey string, files jsonval.Object) jsonval.Object {
	context := FillInstructions(jsonval.AsList(source["context"]), ownFileKey, files)
	if context == nil {
		return source
	}
	return jsonval.WithKey(source, "context", context)
}

// FillInstructions is WithInstructions for messages; nil if none of them changes.
func FillInstructions(context []any, ownFileKey string, files jsonval.Object) (filledContext []any) {
	for n, raw := range context {
		key, err := ResolveFileKey(ownFileKey, ideafile.UnreadInstructionFile(raw))
		if content := files[key]; err == nil && content != nil {
			if filledContext == nil {
				filledContext = append(filledContext, context...)
			}
			filledContext[n] = jsonval.WithKey(jsonval.AsObject(raw), ideafile.InstructionContentKey, content)
		}
	}
	return filledContext
}

// InstructionFileKeys lists the keys of the instruction files that messages name without including their content.
func InstructionFileKeys(context []any, ownFileKey string) (keys []string) {
	for _, raw := range context {
		if name := ideafile.UnreadInstructionFile(raw); name != "" {
			if key, err := ResolveFileKey(ownFileKey, name); err == nil {
				keys = append(keys, key)
			}
		}
	}
	return keys
}
