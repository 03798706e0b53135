package split

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"processidea/model/approval"
	"processidea/model/ideafile"
	"processidea/model/ideafile/spelling"
	"processidea/model/loop"
)

// This file makes parts undo what they did, if a person orders that from the whole.

// UndoUnderWay is an ordered undo that parts carry out.
type UndoUnderWay struct {
	Order approval.UndoOrder `json:"order"`
	// ID is the id of the undo's act in the parts. Parts are the parts that have not finished it, Fates its outcomes in
	// the other parts.
	ID    string          `json:"id"`
	Parts []int           `json:"parts"`
	Fates []approval.Fate `json:"fates,omitempty"`
}

// BeginUndo returns the order for each of UndoUnderWay.Parts, in their order. prefix begins the id of the act in the
// parts. If it returns an error, nothing is undone.
func (p *Process) BeginUndo(o approval.UndoOrder, prefix string) (orders []approval.UndoOrder, err error) {
	switch {
	case p.PauseReason == nil:
		return nil, loop.ErrUndoAtWork
	case p.Undo != nil: // only the parts know for sure whether they are at rest
		return nil, loop.ErrUndoNotAtRest
	}
	tokens, partOf := spelling.NewTokenIndex(p.InstanceTokens()), map[string]int{}
	for _, part := range p.All {
		for _, token := range part.Tokens {
			partOf[token] = part.Number
		}
	}
	only := 0
	if named, is := o.NamedInstance(); is {
		token, known := tokens.FindToken(named)
		if only = partOf[token]; !known {
			return nil, fmt.Errorf("there is no instance %q", named)
		}
	}
	p.UndoCount++
	u := &UndoUnderWay{Order: o, ID: fmt.Sprintf("%s/undo/%d", prefix, p.UndoCount)}
	byPart := map[int][]string{}
	for _, call := range o.Calls {
		token, _ := tokens.FindToken(ideafile.InstanceTokenOfCallID(call))
		byPart[partOf[token]] = append(byPart[partOf[token]], call)
	}
	for _, number := range p.RunningParts() {
		if (only == 0 || only == number) && (o.Calls == nil || byPart[number] != nil) {
			own := o
			own.ID, own.Calls = u.ID, byPart[number]
			u.Parts, orders = append(u.Parts, number), append(orders, own)
		}
	}
	if len(orders) == 0 {
		return nil, loop.ErrNothingToUndo
	}
	p.Undo = u
	return orders, nil
}

// TakeUndoFates keeps the outcome of an undo in a part, and returns the other Fates.
func (p *Process) TakeUndoFates(number int, fates []approval.Fate) []approval.Fate {
	return slices.DeleteFunc(fates, func(f approval.Fate) bool {
		if p.Undo == nil || f.ID != p.Undo.ID || f.Signal != approval.SteerUndo {
			return false
		}
		p.endUndo(number, f)
		return true
	})
}

func (p *Process) endUndo(number int, f approval.Fate) {
	u := p.Undo
	before := len(u.Parts)
	u.Parts = slices.DeleteFunc(u.Parts, func(n int) bool { return n == number })
	if f.Reason != "" {
		f.Reason = fmt.Sprintf("part %d: %s", number, f.Reason)
	}
	if len(u.Parts) < before {
		u.Fates = append(u.Fates, f)
	}
}

// TakeEndedUndo returns, once, an order of BeginUndo that all parts have finished, and what they refused; nil if there
// is none. Parts that had nothing to undo are mentioned only if no part had anything to undo.
func (p *Process) TakeEndedUndo() (o *approval.UndoOrder, refusal error) {
	u := p.Undo
	if u == nil {
		return nil, nil
	}
	for _, number := range slices.Clone(u.Parts) {
		if p.All[number-1].Report.IsFinished() {
			p.endUndo(number, approval.Fate{Reason: "it has ended"})
		}
	}
	if len(u.Parts) > 0 {
		return nil, nil
	}
	p.Undo = nil
	otherFates := slices.ContainsFunc(u.Fates, func(f approval.Fate) bool { return !f.NothingToDo })
	var reasons []string
	code := ""
	for _, f := range u.Fates {
		if f.Reason != "" && !(otherFates && f.NothingToDo) {
			reasons, code = append(reasons, f.Reason), cmp.Or(code, f.Code)
		}
	}
	if len(reasons) > 0 {
		refusal = approval.Refusal{Code: code, Text: strings.Join(reasons, "; ")}
	}
	return &u.Order, refusal
}
