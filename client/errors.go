package client

import (
	"context"
	"errors"
	"fmt"

	"go.temporal.io/api/serviceerror"

	"processidea/client/ideafiles"
	"processidea/client/internal/kind"
	"processidea/connect"
	"processidea/store/blobs"
	"processidea/store/chain"
)

// These are the kinds of errors, for errors.Is. Any other error comes from the store or the server.
var (
	// ErrInvalid: the request makes no sense, or a file or an Idea is wrong. See also InvalidError.
	ErrInvalid = ideafiles.ErrInvalid
	// ErrNotFound: there is no process with the id, or no Idea with the number.
	ErrNotFound = errors.New("not found")
	// ErrRefused: a decision, or another signal, changed nothing. See also RefusedError.
	ErrRefused = errors.New("refused")
	// ErrIDInUse: a process with the id was started from something else.
	ErrIDInUse = connect.ErrOtherContent
	// ErrUnreachable: the Temporal server does not answer.
	ErrUnreachable = errors.New("the server cannot be reached")
	// ErrNoWorker: the server answers, but no worker does.
	ErrNoWorker = errors.New("no worker answers")
	// ErrKeys: the keys do not fit the store: they are broken, missing, or another store's.
	ErrKeys = errors.New("the keys do not fit the store")
	// ErrForgotten: the contents of the process were forgotten. The text says when, by whom and why.
	ErrForgotten = blobs.ErrForgotten
	// ErrNoValue: the place that Blame was asked about has no value, and nobody wrote there.
	ErrNoValue = chain.ErrNoValue
	// ErrBadPlace: the place that Blame was asked about is malformed.
	ErrBadPlace = chain.ErrBadPlace
)

// InvalidError lists everything that is wrong with an Idea. It wraps ErrInvalid.
type InvalidError = ideafiles.InvalidError

// RefusedError is a signal that changed nothing. It wraps ErrRefused.
type RefusedError struct {
	ProcessID string
	Signal    string // approve, pause, …
	CallID    string // the Call that a decision was about; empty for other signals
	Reason    string
	Code      string // why, for programs: approval.CodeNotAtRest or another code; may be empty
}

// Error says what was refused, and why.
func (e *RefusedError) Error() string {
	subject := e.ProcessID
	if e.CallID != "" {
		subject += " " + e.CallID
	}
	return fmt.Sprintf("%s %s: refused: %s", e.Signal, subject, e.Reason)
}

// Unwrap gives ErrRefused.
func (e *RefusedError) Unwrap() error { return ErrRefused }

// ClaimedIDError is for an id that has Ideas in the store, but no process that Temporal still knows: a new process
// could not store its Ideas under it. It wraps ErrInvalid.
type ClaimedIDError struct {
	ID        string
	IdeaCount int // the number of the latest
}

// Error says how many Ideas there are.
func (e *ClaimedIDError) Error() string {
	return fmt.Sprintf(
		"start process %s: the store already has %d Ideas of a process with this id, but Temporal does not know "+
			"that process",
		e.ID, e.IdeaCount)
}

// Unwrap gives ErrInvalid.
func (e *ClaimedIDError) Unwrap() error { return ErrInvalid }

// IsUnreachable reports whether an error is of a server that does not answer, whichever package it comes from.
func IsUnreachable(err error) bool {
	return errors.Is(err, ErrUnreachable) || kind.Is[*serviceerror.Unavailable](err) ||
		kind.Is[*serviceerror.DeadlineExceeded](err) || errors.Is(err, context.DeadlineExceeded)
}
