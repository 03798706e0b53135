package chain

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"processidea/store/blobs"
	"processidea/store/proofs"
)

// Store keeps the chains of processes in a store of values. It is safe for concurrent use.
type Store struct {
	blobStore   *blobs.Store
	latestIdeas *blobs.LRU[*loadedIdea]
	// proofVerifier are the keys with which Verify checks the signatures of decisions; if nil, Verify does not check
	// them.
	proofVerifier proofs.ProofVerifier
}

// New returns the chains in a store of values.
func New(blobStore *blobs.Store) *Store {
	return &Store{blobStore: blobStore, latestIdeas: newIdeaCache()}
}

// WithProofVerifier returns the same chains; Verify checks the signatures of decisions with these keys.
func (s *Store) WithProofVerifier(proofVerifier proofs.ProofVerifier) *Store {
	clone := *s
	clone.proofVerifier = proofVerifier
	return &clone
}

// Errors of Store.
var (
	ErrNoIdea = errors.New("the store has no such Idea")
	// ErrConflict says that a different Idea already has the number of the Idea to seal, and that other Ideas follow
	// it.
	ErrConflict = errors.New("another Idea stands there, and others follow it")
)

// brokenObjectError is the error for a part of the store that cannot be read because it is not what was written.
type brokenObjectError struct {
	objectName string
	cause      error
}

func (b *brokenObjectError) Error() string { return fmt.Sprintf("%s: %s", b.objectName, b.cause) }

func (b *brokenObjectError) Unwrap() error { return b.cause }

func brokenErrorf(objectName, format string, args ...any) error {
	return &brokenObjectError{objectName, fmt.Errorf(format, args...)}
}

// wrapError prefixes a returned error with the operation that failed.
func wrapError(err *error, format string, args ...any) {
	if *err != nil {
		*err = fmt.Errorf("chain: "+format+": %w", append(args, *err)...)
	}
}

// isBroken reports whether an error means that something is missing or broken, rather than that the store does not
// answer.
func isBroken(err error) bool {
	for _, known := range []error{ErrNoIdea, blobs.ErrMissing, blobs.ErrChanged, blobs.ErrMismatch} {
		if errors.Is(err, known) {
			return true
		}
	}
	return isBrokenObjectError(err)
}

// isBrokenObjectError reports whether an error names the part that is broken.
func isBrokenObjectError(err error) bool {
	_, isBrokenObject := errors.AsType[*brokenObjectError](err)
	return isBrokenObject
}

// Report is what a check of a chain found.
type Report struct {
	Process   string `json:"process"`
	IdeaCount int    `json:"ideas"`
	// Digest is the digest of the latest Idea; empty if it is unknown.
	Digest string `json:"digest"`
	// Created is when the latest Idea was sealed; zero if unknown.
	Created  time.Time `json:"createdAt,omitzero"`
	IsIntact bool      `json:"whole"`
	// ChildChainCount is how many chains of parts and delegates were checked too. Their faults are in Broken.
	ChildChainCount int `json:"within,omitempty"`
	// WitnessedIdeaCount is how many Ideas were compared with digests known from elsewhere.
	WitnessedIdeaCount int `json:"witnessed,omitempty"`
	// Decisions counts how people's decisions on Calls are proven.
	Decisions proofs.Counts `json:"decisions"`
	// Broken lists every broken place, in the order of the first Idea that it harms.
	Broken []BrokenItem `json:"broken"`
	// UnreadableIdeaNumbers lists the Ideas that cannot be loaded because of broken places.
	UnreadableIdeaNumbers []int `json:"unreadable"`
	// ForkOrigin is the Idea that the process was forked from, as its Ideas say.
	ForkOrigin any `json:"origin,omitempty"`
	// Undoes says which process this one undoes, for whom and why; absent if it undoes none.
	Undoes any `json:"undoes,omitempty"`
	// Simulated says who played the Tools of a simulation, as its Ideas record; absent for a process that really ran.
	Simulated any `json:"simulated,omitempty"`
	// Forgotten says who had the contents removed. Then only the links between the Ideas' digests are checked.
	Forgotten *ForgetRecord `json:"forgotten,omitempty"`
	// ForgottenInstances are the instances that were removed from the Ideas.
	ForgottenInstances []ForgottenInstance `json:"forgottenInstances,omitempty"`

	brokenIndexByItem map[string]int // the index in Broken of each part
}

// BrokenItem is one broken place of a chain: the first Idea that it affects, the part (a name in the store, or a line
// of an export), what is wrong, and the Ideas that depend on the part and cannot be loaded.
type BrokenItem struct {
	FirstIdea             int    `json:"at"`
	Item                  string `json:"part"`
	Problem               string `json:"problem"`
	UnloadableIdeaNumbers []int  `json:"harms,omitempty"`
}

func newReport(processID string) *Report {
	return &Report{Process: processID, Broken: []BrokenItem{}, UnreadableIdeaNumbers: []int{},
		brokenIndexByItem: map[string]int{}}
}

// addBrokenItem records a broken place, unless its part is already recorded.
func (r *Report) addBrokenItem(ideaNumber int, item, format string, args ...any) {
	if _, isListed := r.brokenIndexByItem[item]; isListed {
		return
	}
	r.brokenIndexByItem[item] = len(r.Broken)
	r.Broken = append(r.Broken, BrokenItem{FirstIdea: ideaNumber, Item: item, Problem: fmt.Sprintf(format, args...)})
}

// addUnloadable records that an Idea cannot be loaded because of a broken part.
func (r *Report) addUnloadable(item string, ideaNumber int) {
	n, isListed := r.brokenIndexByItem[item]
	if isListed && !slices.Contains(r.Broken[n].UnloadableIdeaNumbers, ideaNumber) {
		r.Broken[n].UnloadableIdeaNumbers = append(r.Broken[n].UnloadableIdeaNumbers, ideaNumber)
	}
}

// addDecisionProblems records faults of decisions, all of them.
func (r *Report) addDecisionProblems(ideaNumber int, item string, problems []string) {
	for _, p := range problems {
		r.Broken = append(r.Broken, BrokenItem{FirstIdea: ideaNumber, Item: item, Problem: p})
	}
}

// noteSimulated records it if an Idea of the chain is a simulation.
func (r *Report) noteSimulated(meta map[string]any) {
	if mark := meta["simulated"]; mark != nil && mark != false {
		r.Simulated = mark
	}
}

func (r *Report) finish() *Report {
	r.IsIntact = len(r.Broken) == 0
	return r
}
