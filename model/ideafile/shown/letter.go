package shown

import (
	"processidea/model/ideafile/placeholder"
	"processidea/model/jsonval"
)

// fillLetter fills in a template from the parameters. The members of parameters that are objects come first, since a
// Tool takes the values of a template as one object. Unknown names stay as they are written.
func fillLetter(text string, params jsonval.Object) (parts TextSpans) {
	for _, part := range placeholder.Split(text) {
		if part.PlaceholderName == "" {
			parts = append(parts, TextSpan{Text: part.Text})
			continue
		}
		filledPart := TextSpan{Text: "{" + part.PlaceholderName + "}"}
		for _, values := range append(objectParams(params), params) {
			if v, exists := placeholder.FindValue(values, part.PlaceholderName); exists {
				filledPart = TextSpan{placeholder.FormatValue(v), true}
				break
			}
		}
		parts = append(parts, filledPart)
	}
	return parts
}

// LetterOutline is a letter's template with titles in place of the names of what is filled in. f is the format of the
// parameters.
func (f Format) LetterOutline(text string) TextSpans { return fillLetter(text, f.memberTitles()) }

func (f Format) memberTitles() jsonval.Object {
	titles := jsonval.Object{}
	for name, member := range f.Properties {
		if titles[name] = member.TitleOr(name); len(member.Properties) > 0 {
			titles[name] = member.memberTitles()
		}
	}
	return titles
}

func objectParams(params jsonval.Object) (list []jsonval.Object) {
	for _, v := range jsonval.Sorted(params) {
		if m, ok := v.(jsonval.Object); ok {
			list = append(list, m)
		}
	}
	return list
}
