package chain

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"processidea/model/jsonval"
	"processidea/store/blobs"
)

// forget has p forgotten.
func (s *shelf) forget(t testing.TB) *ForgetResult {
	t.Helper()
	done, err := s.Forget(t.Context(), ForgetOptions{RootProcessID: "p",
		ForgetRecord: ForgetRecord{ForgottenAt: later, By: "ann"},
		Decrypt:      s.values.Keys().OpenPayload})
	if err != nil {
		t.Fatal(err)
	}
	return done
}

// told seals Ideas of a process that hold a large value of its own, and one that others hold too.
func told(t testing.TB, s *shelf, process string) (own, shared string) {
	story := newStory(t, s, process)
	values := blobs.WithProcess(t.Context(), process)
	put := func(text string) (digest string, handle any) {
		data := jsonval.Encode(strings.Repeat(text, 20_000))
		digest, err := s.values.Put(values, data)
		if err != nil {
			t.Fatal(err)
		}
		return digest, jsonval.BlobHandle{Digest: digest, Size: len(data), ValueType: "string"}.AsJSONValue()
	}
	own, ownHandle := put("of " + process + " alone ")
	shared, sharedHandle := put("of everybody ")
	for range 3 {
		i := idea(t, `{"": {}}`, noCalls, "")
		i["config"] = map[string]any{"own": ownHandle, "shared": sharedHandle}
		story.seal(i)
	}
	return own, shared
}

// stores are one that encrypts nothing, one that does, and one that is older than data keys, whose values lie together.
var stores = map[string]func(t *testing.T) (*shelf, func(process string) (own, shared string)){
	"plain": func(t *testing.T) (*shelf, func(string) (string, string)) {
		s := newShelf(t)
		return s, func(process string) (string, string) { return told(t, s, process) }
	},
	"encrypted": func(t *testing.T) (*shelf, func(string) (string, string)) {
		s := keyedShelf(t, t.TempDir(), keys(t, "k1")...)
		return s, func(process string) (string, string) { return told(t, s, process) }
	},
	"encrypted later": func(t *testing.T) (*shelf, func(string) (string, string)) {
		dir := t.TempDir()
		plain, s := openShelf(t, dir), keyedShelf(t, dir, keys(t, "k1")...)
		return s, func(process string) (string, string) { return told(t, plain, process) }
	},
}

func TestOfAForgottenChainTheDigestsStayAndNothingElse(t *testing.T) {
	t.Parallel()
	for name, open := range stores {
		s, tell := open(t)
		own, shared := tell("p")
		tell("p/~part/1")
		tell("q")
		before, err := s.List(t.Context(), "p")
		if err != nil {
			t.Fatal(err)
		}
		for n := range 2 { // doing it again changes nothing
			done := s.forget(t)
			if !slices.Equal(done.AffectedProcessIDs, []string{"p", "p/~part/1"}) || done.AffectedIdeaCount != 6 ||
				(n == 0) != (done.RemovedValueCount > 0) {
				t.Errorf("%s: %+v", name, done)
			}
		}
		links, err := s.cold2(t).List(t.Context(), "p")
		if err != nil || len(links) != 4 {
			t.Fatalf("%s: %+v, %v", name, links, err)
		}
		for n, l := range before {
			if links[n].Digest != l.Digest || links[n].ParentDigest != l.ParentDigest || links[n].Forgotten == nil {
				t.Errorf("%s: %+v, and it was %+v", name, links[n], l)
			}
		}
		for _, process := range []string{"p", "p/~part/1"} {
			r := s.verified(t, process)
			if !r.IsIntact || r.IdeaCount != 4 || r.Forgotten == nil || r.Forgotten.By != "ann" ||
				!r.Forgotten.ForgottenAt.Equal(later) {
				t.Errorf("%s: %+v", name, r)
			}
			var forgotten *ForgottenError
			if _, err := s.Load(t.Context(), process, 2); !errors.As(err, &forgotten) ||
				!errors.Is(err, blobs.ErrForgotten) {
				t.Errorf("%s: %v", name, err)
			}
		}
		if idea := s.load(t, "p", 4); !strings.Contains(jsonOf(idea), before[2].Digest) {
			t.Errorf("%s: the last Idea does not name those before: %s", name, jsonOf(idea))
		}
		if r := s.verified(t, "q"); !r.IsIntact || r.Forgotten != nil {
			t.Errorf("%s: %+v", name, r)
		}
		s.load(t, "q", 3)
		if _, err := s.values.GetUncached(blobs.WithProcess(t.Context(), "q"), shared); err != nil {
			t.Errorf("%s: what another process needs too: %v", name, err)
		}
		if _, err := s.values.GetUncached(blobs.WithProcess(t.Context(), ""), own); !errors.Is(err, blobs.ErrMissing) {
			t.Errorf("%s: %v", name, err)
		}
		for file, data := range s.files(t) {
			if strings.Contains(string(data), "of p alone") {
				t.Errorf("%s: it still stands in %s", name, file)
			}
		}
	}
}

// cold2 is the same store with the same keys, as another program sees it.
func (s *shelf) cold2(t testing.TB) *shelf {
	t.Helper()
	values, err := blobs.Open(t.Context(), s.dir, blobs.WithKeys(s.values.Keys()))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = values.Close() })
	return &shelf{New(values), values, s.dir}
}

func TestAForgottenChainTakesNoIdea(t *testing.T) {
	t.Parallel()
	s := newShelf(t)
	story := newStory(t, s, "p")
	story.grow(2)
	s.forget(t)
	if _, err := s.Seal(t.Context(), story.entry(idea(t, `{"": {"late": true}}`, noCalls, ""))); !errors.Is(err,
		blobs.ErrForgotten) {
		t.Errorf("%v", err)
	}
	if r := s.verified(t, "p"); !r.IsIntact || r.IdeaCount != 3 {
		t.Errorf("%+v", r)
	}
}

// Whatever interrupts it, the same once more completes it.
func TestAForgettingThatIsInterruptedIsCompletedByTheNext(t *testing.T) {
	t.Parallel()
	for name, open := range stores {
		for step := range 60 {
			s, tell := open(t)
			own, _ := tell("p")
			tell("q")
			calls := 0
			ctx, cancel := context.WithCancel(t.Context())
			f := ForgetOptions{RootProcessID: "p", ForgetRecord: ForgetRecord{ForgottenAt: later},
				Decrypt:             s.values.Keys().OpenPayload,
				RemovalNoticePeriod: time.Nanosecond}
			_, err := s.Forget(interrupted{ctx, cancel, &calls, step * 7}, f)
			cancel()
			done := s.cold2(t).forget(t)
			if len(done.AffectedProcessIDs) != 1 || !s.verified(t, "p").IsIntact || !s.verified(t, "q").IsIntact {
				t.Fatalf("%s, broken off after %d: %+v", name, step*7, done)
			}
			if _, err := s.cold2(t).values.GetUncached(blobs.WithProcess(t.Context(), ""), own); !errors.Is(err,
				blobs.ErrMissing) {
				t.Fatalf("%s, broken off after %d: %v", name, step*7, err)
			}
			if err == nil {
				break
			}
		}
	}
}

// interrupted is a context that ends when it has been asked so many times.
type interrupted struct {
	context.Context
	cancel context.CancelFunc
	calls  *int
	after  int
}

func (i interrupted) Err() error {
	if *i.calls++; *i.calls > i.after {
		i.cancel()
	}
	return i.Context.Err()
}

func TestAForgottenChainThatWasAlteredIsFound(t *testing.T) {
	t.Parallel()
	s := newShelf(t)
	newStory(t, s, "p").grow(3)
	newStory(t, s, "q").grow(3)
	s.forget(t)
	m, err := s.manifest(t.Context(), "p", 3)
	if err != nil {
		t.Fatal(err)
	}
	m.Digest = strings.Repeat("0", 64)
	s.write(t, ManifestName("p", 3), m.encode())
	if r := s.verified(t, "p"); r.IsIntact {
		t.Errorf("%+v", r)
	}
}

func TestForksOfAProcessAreFoundUntilTheyAreForgotten(t *testing.T) {
	t.Parallel()
	s := newShelf(t)
	newStory(t, s, "q").grow(1)
	fork := newStory(t, s, "p")
	fork.seal(ForkedIdea(s.load(t, "q", 1)))
	forks, err := s.Forks(t.Context(), "q")
	if err != nil || !slices.Equal(forks, []string{"p"}) {
		t.Errorf("%q, %v", forks, err)
	}
	s.forget(t)
	if forks, err := s.Forks(t.Context(), "q"); err != nil || len(forks) > 0 {
		t.Errorf("%q, %v", forks, err)
	}
}
