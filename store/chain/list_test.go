package chain

import (
	"errors"
	"slices"
	"testing"
	"time"
)

func TestTheIdeasOfAProcessAreListedInOrder(t *testing.T) {
	s := refund(t)
	links, err := s.cold(t).List(t.Context(), "p")
	if err != nil || len(links) != 4 {
		t.Fatalf("%+v, %v", links, err)
	}
	for i, l := range links {
		if l.At != i+1 || i > 0 && l.Parent != links[i-1].Digest || !l.Created.Equal(noon.Add(time.Duration(i)*time.Minute)) {
			t.Errorf("%+v", l)
		}
	}
	if l := links[1]; l.Request != 2 || l.Counts != (Counts{Instances: 2, Writes: 3}) {
		t.Errorf("%+v", l)
	}
	if links[0].Counts.Calls != 2 || links[2].Counts.Decisions != 1 || links[2].Request != 0 {
		t.Errorf("%+v", links)
	}
	if _, err := s.List(t.Context(), "q"); !errors.Is(err, ErrNoIdea) {
		t.Errorf("got %v", err)
	}
}

func TestProcessesAreListedByTheirNamesWhateverTheseHold(t *testing.T) {
	s := newShelf(t)
	names := []string{"a b①%41?#é", "p", "p/~part/3", "x.attrs"}
	for _, name := range names {
		newStory(t, s, name).grow(11)
	}
	got, err := s.Processes(t.Context())
	if err != nil || !slices.Equal(got, names) {
		t.Errorf("%q, %v", got, err)
	}
	for _, name := range names {
		if n, err := s.Latest(t.Context(), name); n != 11 || err != nil {
			t.Errorf("%s: %d, %v", name, n, err)
		}
	}
	if n, err := s.Latest(t.Context(), "q"); n != 0 || err != nil {
		t.Errorf("%d, %v", n, err)
	}
}
