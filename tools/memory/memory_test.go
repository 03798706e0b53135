package memory_test

import (
	"context"
	"errors"
	"testing"

	"processidea/tools/memory"
)

func TestWhatIsLargeWaitsUntilOthersHaveGivenTheirMemoryBack(t *testing.T) {
	t.Parallel()
	b := memory.NewBudget(40 * memory.MaxUncountedBytes)
	first, release := b.WithReservation(context.Background())
	if err := memory.Reserve(first, 3*memory.MaxUncountedBytes); err != nil {
		t.Fatal(err)
	}
	second, done := b.WithReservation(context.Background())
	defer done()
	taken := make(chan error)
	go func() { taken <- memory.Reserve(second, 3*memory.MaxUncountedBytes) }()
	select {
	case err := <-taken:
		t.Fatalf("both have it at once: %v", err)
	default:
	}
	release()
	if err := <-taken; err != nil {
		t.Error(err)
	}
}

func TestOneThatIsLargerThanAllThereIsRunsAlone(t *testing.T) {
	t.Parallel()
	b := memory.NewBudget(4 * memory.MaxUncountedBytes)
	ctx, release := b.WithReservation(context.Background())
	defer release()
	for range 3 {
		if err := memory.Reserve(ctx, 100*memory.MaxUncountedBytes); err != nil {
			t.Error(err)
		}
	}
	other, cancel := context.WithCancel(context.Background())
	other, end := b.WithReservation(other)
	defer end()
	cancel()
	if err := memory.Reserve(other, 2*memory.MaxUncountedBytes); !errors.Is(err, memory.ErrFull) {
		t.Errorf("got %v", err)
	}
}

func TestWhatIsSmallIsNotCounted(t *testing.T) {
	t.Parallel()
	b := memory.NewBudget(1)
	ctx, release := b.WithReservation(context.Background())
	defer release()
	for range 100 {
		if err := errors.Join(memory.Reserve(ctx, memory.MaxUncountedBytes),
			memory.Reserve(context.Background(), 1<<40)); err != nil {
			t.Error(err)
		}
	}
}
