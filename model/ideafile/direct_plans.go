package ideafile

// leftOpen lists the Calls of a Plan, by place, whose results the LLM would have to write.
func (i *Idea) LeftOpen(plan Message, bindings map[string]Binding) []int {
	var list []int
	for n, raw := range plan.Calls {
		call, _ := raw.(map[string]any)
		name, _ := call["_tool"].(string)
		if bindings[name].Kind == KindLatent && call["_output"] == nil && !plan.RecordOf(n+1, plan.Instance) {
			list = append(list, n)
		}
	}
	return list
}
