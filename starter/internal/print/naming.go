package print

import (
	"strings"

	"processidea/model/ideafile"
	"processidea/model/ideafile/shown"
	"processidea/model/jsonval"
)

// InstanceNaming is what people call instances, and how their values are shown. The zero value shows everything as it
// is.
type InstanceNaming struct {
	inputByInstanceToken jsonval.Object // the instances' own, by token
	presenter            *shown.Presenter
	language             shown.Language
}

// InstanceNamingOf returns the InstanceNaming of an Idea.
func InstanceNamingOf(idea *ideafile.Idea, l shown.Language) InstanceNaming {
	n := InstanceNaming{jsonval.Object{}, shown.NewPresenter(idea), l}
	for token, messages := range ideafile.GroupMessagesByInstance(idea.Context) {
		if input := ideafile.OwnInstanceInput(messages, token); token != "" && input != nil {
			n.inputByInstanceToken[token] = input
		}
	}
	return n
}

// name is an instance's name, with its token, by which commands know it; the unnamed one has none.
func (n InstanceNaming) name(token string) string {
	if n.presenter == nil {
		return token
	}
	name := n.presenter.KnownInstanceName(token)
	if token == "" || name == token || strings.HasSuffix(name, "("+token+")") {
		return name
	}
	return name + " (" + token + ")"
}

// DescribeInstances returns the name and the amount of each instance, with its token; nil if no instance has either.
func (n InstanceNaming) DescribeInstances(tokens []string) (texts []string) {
	isNamed := false
	for _, token := range tokens {
		text := n.name(token)
		if amount := n.presenter.InstanceAmount(token, n.language); amount != "" {
			text = strings.TrimSpace(text + " " + amount)
		}
		isNamed = isNamed || text != token
		texts = append(texts, Compact(text, maxCellWidth))
	}
	if !isNamed {
		return nil
	}
	return texts
}

// DescribeCall returns a Call's id, with the name of its instance.
func (n InstanceNaming) DescribeCall(callID string) string {
	token := ideafile.InstanceTokenOfCallID(callID)
	if name := n.name(token); name != token {
		return callID + " of " + Compact(strings.TrimSuffix(name, " ("+token+")"), maxCellWidth)
	}
	return callID
}

// formatStateValue returns a value of State as it is shown, or as it is if its schema says nothing about that.
func (n InstanceNaming) formatStateValue(key string, v any) any {
	if n.presenter == nil {
		return v
	}
	return n.formatValue(n.presenter.StateFormat().FormatAt(jsonval.Path{key}), v)
}

// formatInput is formatStateValue for a whole input.
func (n InstanceNaming) formatInput(v any) any {
	if n.presenter == nil {
		return v
	}
	return n.formatValue(n.presenter.InputFormat(), v)
}

func (n InstanceNaming) formatValue(f shown.Format, v any) any {
	if f.Display != shown.Plain {
		return f.Text(v, n.language)
	}
	object, isObject := v.(jsonval.Object)
	if !isObject || f.Properties == nil {
		return v
	}
	formatted := jsonval.Object{}
	for key, member := range object {
		formatted[key] = n.formatValue(f.Properties[key], member)
	}
	return formatted
}
