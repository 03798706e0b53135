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

// OngoingUndo is an ordered undo that parts carry out.
type OngoingUndo struct {
	Order approval.UndoOrder `json:"order"`
	// ID is the id of the undo's act in the parts. PendingPartNumbers are the parts that have not finished it, Fates
	// its outcomes in the other parts.
	ID                 string          `json:"id"`
	PendingPartNumbers []int           `json:"parts"`
	Fates              []approval.Fate `json:"fates,omitempty"`
}

// BeginUndo returns the order for each of OngoingUndo.PendingPartNumbers, in their order. idPrefix begins the id of the
// act in the parts. If it returns an error, nothing is undone.
func (p *Process) BeginUndo(o approval.UndoOrder, idPrefix string) (partOrders []approval.UndoOrder, err error) {
	switch {
	case p.PauseReason == nil:
		return nil, loop.ErrUndoWhileRunning
	case p.Undo != nil: // only the parts know for sure whether they are at rest
		return nil, loop.ErrUndoNotAtRest
	}
	tokenIndex, partNumberByToken := spelling.NewInstanceTokenIndex(p.InstanceTokens()), map[string]int{}
	for _, part := range p.Parts {
		for _, token := range part.InstanceTokens {
			partNumberByToken[token] = part.Number
		}
	}
	targetPartNumber := 0
	if name, isNamed := o.TargetInstance(); isNamed {
		token, isKnown := tokenIndex.FindToken(name)
		if targetPartNumber = partNumberByToken[token]; !isKnown {
			return nil, fmt.Errorf("there is no instance %q", name)
		}
	}
	p.UndoCount++
	u := &OngoingUndo{Order: o, ID: fmt.Sprintf("%s/undo/%d", idPrefix, p.UndoCount)}
	callIDsByPartNumber := map[int][]string{}
	for _, callID := range o.CallIDs {
		token, _ := tokenIndex.FindToken(ideafile.InstanceTokenOfCallID(callID))
		callIDsByPartNumber[partNumberByToken[token]] = append(callIDsByPartNumber[partNumberByToken[token]], callID)
	}
	for _, number := range p.RunningPartNumbers() {
		if (targetPartNumber == 0 || targetPartNumber == number) &&
			(o.CallIDs == nil || callIDsByPartNumber[number] != nil) {
			partOrder := o
			partOrder.ID, partOrder.CallIDs = u.ID, callIDsByPartNumber[number]
			u.PendingPartNumbers, partOrders = append(u.PendingPartNumbers, number), append(partOrders, partOrder)
		}
	}
	if len(partOrders) == 0 {
		return nil, loop.ErrNothingToUndo
	}
	p.Undo = u
	return partOrders, nil
}

// ConsumeUndoFates keeps the outcome of an undo in a part, and returns the other Fates.
func (p *Process) ConsumeUndoFates(partNumber int, fates []approval.Fate) []approval.Fate {
	return slices.DeleteFunc(fates, func(f approval.Fate) bool {
		if p.Undo == nil || f.ID != p.Undo.ID || f.Signal != approval.SteerUndo {
			return false
		}
		p.endPartUndo(partNumber, f)
		return true
	})
}

func (p *Process) endPartUndo(partNumber int, f approval.Fate) {
	u := p.Undo
	pendingCountBefore := len(u.PendingPartNumbers)
	u.PendingPartNumbers = slices.DeleteFunc(u.PendingPartNumbers, func(n int) bool { return n == partNumber })
	if f.RefusalReason != "" {
		f.RefusalReason = fmt.Sprintf("part %d: %s", partNumber, f.RefusalReason)
	}
	if len(u.PendingPartNumbers) < pendingCountBefore {
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
	for _, number := range slices.Clone(u.PendingPartNumbers) {
		if p.Parts[number-1].Report.IsFinished() {
			p.endPartUndo(number, approval.Fate{RefusalReason: "it has ended"})
		}
	}
	if len(u.PendingPartNumbers) > 0 {
		return nil, nil
	}
	p.Undo = nil
	hasEffect := slices.ContainsFunc(u.Fates, func(f approval.Fate) bool { return !f.HasNothingToDo })
	var refusalReasons []string
	refusalCode := ""
	for _, f := range u.Fates {
		if f.RefusalReason != "" && !(hasEffect && f.HasNothingToDo) {
			refusalReasons, refusalCode = append(refusalReasons, f.RefusalReason), cmp.Or(refusalCode, f.RefusalCode)
		}
	}
	if len(refusalReasons) > 0 {
		refusal = approval.Refusal{Code: refusalCode, Text: strings.Join(refusalReasons, "; ")}
	}
	return &u.Order, refusal
}
