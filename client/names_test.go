package client_test

import (
	"context"
	"errors"
	"testing"

	"processidea/client"
	"processidea/client/forget"
	"processidea/client/schedules"
	"processidea/store/blobs"
)

// No act whose `by` a process does not check itself takes a name that looks like another person's.
func TestNamesThatLookLikeAnothersAreRefusedBeforeAnythingIsAsked(t *testing.T) {
	t.Parallel()
	store, err := blobs.Open(t.Context(), "mem://")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = store.Close() })
	c := client.New(nil, "default", store) // whatever is asked of Temporal panics
	for act, do := range map[string]func(ctx context.Context, by string) error{
		"start": func(ctx context.Context, by string) error {
			_, err := c.Start(ctx, client.StartOptions{ID: "p", StartedBy: by, Idea: map[string]any{}})
			return err
		},
		"forget": func(ctx context.Context, by string) error {
			_, err := forget.Process(ctx, c, "p", forget.Options{Actor: client.Actor{Name: by}})
			return err
		},
		"forget an instance": func(ctx context.Context, by string) error {
			_, err := forget.Instance(ctx, c, "p", "a", forget.Options{Actor: client.Actor{Name: by}})
			return err
		},
		"run a schedule": func(ctx context.Context, by string) error {
			return schedules.ForClient(c).StartNow(ctx, "s", by)
		},
	} {
		for _, by := range []string{"an\u200bn", "\u0430nn", "a\u0000"} {
			if err := do(t.Context(), by); !errors.Is(err, client.ErrInvalid) {
				t.Errorf("%s by %+q: %v", act, by, err)
			}
		}
	}
}
