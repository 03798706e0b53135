package chain

import (
	"context"
	"fmt"

	"processidea/model/turn"
)

// Log gives what the logs of all Ideas of a process say, in order, with every value of the store in its place. The error
// wraps ErrNoIdea where the process has none.
func (s *Store) Log(ctx context.Context, process string) ([]turn.LogEntry, error) {
	manifests, err := s.manifests(ctx, process)
	if err != nil {
		return nil, fmt.Errorf("chain: read the log of %s: %w", process, err)
	}
	var all []turn.LogEntry
	for _, m := range manifests {
		log, err := s.wholeLog(ctx, m)
		if err != nil {
			return nil, fmt.Errorf("chain: read the log of %s: %w", process, err)
		}
		all = append(all, log...)
	}
	return all, nil
}

func (s *Store) wholeLog(ctx context.Context, m *manifest) ([]turn.LogEntry, error) {
	v, err := s.logValue(ctx, m)
	if err != nil || v == nil {
		return nil, err
	}
	if v, err = s.values.Restore(ctx, v); err != nil {
		return nil, err
	}
	return turn.DecodeLog(v)
}
