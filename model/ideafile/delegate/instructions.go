package delegate

import (
	"processidea/model/ideafile"
	"processidea/model/jsonval"
)

// WithInstructions returns an Idea's source whose messages include the content of the instruction files that they name.
// own is the key of the Idea's file. Content that a message has already stays. CheckFiles reports missing files.
func WithInstructions(source jsonval.Object, ownFile string, files jsonval.Object) jsonval.Object {
	context := FillInstructions(jsonval.AsList(source["context"]), ownFile, files)
	if context == nil {
		return source
	}
	return jsonval.WithKey(source, "context", context)
}

// FillInstructions is WithInstructions for messages; nil if none of them changes.
func FillInstructions(context []any, ownFile string, files jsonval.Object) (filledContext []any) {
	for n, raw := range context {
		key, err := ResolveFile(ownFile, ideafile.UnreadInstructionFile(raw))
		if content := files[key]; err == nil && content != nil {
			if filledContext == nil {
				filledContext = append(filledContext, context...)
			}
			filledContext[n] = jsonval.WithKey(jsonval.AsObject(raw), ideafile.InstructionContentKey, content)
		}
	}
	return filledContext
}

// InstructionFiles lists the keys of the instruction files that messages name without including their content.
func InstructionFiles(context []any, ownFile string) (keys []string) {
	for _, raw := range context {
		if name := ideafile.UnreadInstructionFile(raw); name != "" {
			if key, err := ResolveFile(ownFile, name); err == nil {
				keys = append(keys, key)
			}
		}
	}
	return keys
}
