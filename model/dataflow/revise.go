package dataflow

import (
	"processidea/model/ideafile"
	"processidea/model/jsonval"
	"processidea/model/statelog"
	"processidea/model/turn"
)

// Revise takes a person's correction into an instance: what it sees beside State, and values of State, which close their
// paths. A value takes the place of what it corrects: whoever would see that sees it.
func (r *Instance) Revise(messages []ideafile.Message, by, reason string) {
	r.context = append(r.context[:len(r.context):len(r.context)], messages...)
	r.look()
	for _, m := range messages {
		if m.Kind != ideafile.TypeState || m.Payload == nil {
			continue
		}
		for _, w := range statelog.SplitPatch(m.Payload, nil) {
			r.corrections++
			w.By, w.Reason, w.At, w.Correction = turn.PersonAuthor(by), reason, r.now, r.corrections
			for _, old := range r.state.Writes() {
				if old.Path.Overlaps(w.Path) {
					w.Request, w.Index = old.Request, old.Index
				}
			}
			r.state.Apply(w)
			r.unreported = append(r.unreported, w)
		}
	}
}

// correctedBy names the person who has set the path of a Call while it ran, or all paths of one of its branches; "" where
// nobody has.
func (r *Instance) correctedBy(rec *Record) string {
	if rec.update() {
		return ""
	}
	for _, branch := range rec.OutputPath {
		by := ""
		for _, p := range branch {
			if by = r.corrector(p); by == "" {
				break
			}
		}
		if by != "" {
			return by
		}
	}
	return ""
}

func (r *Instance) corrector(p jsonval.Path) string {
	for _, w := range r.state.Writes() {
		if w.Correction > 0 && w.Path.Overlaps(p) {
			return w.By
		}
	}
	return ""
}
