package ideafile

// forEffect says whether a Call, as written, has no output path: what it came to is on its record alone.
func (i *Idea) ForEffect(raw any) bool {
	call, _ := raw.(map[string]any)
	name, _ := call["_tool"].(string)
	t := i.Tool(name)
	if t == nil {
		return false
	}
	var c Call
	return t.ReadCallOutput(&c, call) == nil && len(c.OutputPath) == 0
}
