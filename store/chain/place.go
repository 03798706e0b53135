package chain

import (
	"context"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// folder is where the manifests lie.
const folder = "ideas/"

// Place names the place of a process's Idea in the store.
func Place(process string, at int) string {
	return fmt.Sprintf("%s%d.json", placeOf(process), at)
}

// placeOf names the folder of a process's Ideas.
func placeOf(process string) string { return folder + url.PathEscape(process) + "/" }

// numberAt reads the number of the Idea at a place; ok is false where no Idea of the process lies.
func numberAt(process, name string) (at int, ok bool) {
	text, ok := strings.CutSuffix(strings.TrimPrefix(name, placeOf(process)), ".json")
	at, err := strconv.Atoi(text)
	return at, ok && err == nil && at > 0 && strconv.Itoa(at) == text
}

// Processes lists the processes that have Ideas, in the order of their names.
func (s *Store) Processes(ctx context.Context) ([]string, error) {
	folders, err := s.values.Folders(ctx, folder)
	if err != nil {
		return nil, fmt.Errorf("chain: list processes: %w", err)
	}
	processes := []string{}
	for _, f := range folders {
		if p, err := url.PathUnescape(strings.TrimSuffix(strings.TrimPrefix(f, folder), "/")); err == nil {
			processes = append(processes, p)
		}
	}
	slices.Sort(processes)
	return processes, nil
}

// numbers lists the numbers of a process's Ideas in order, and whatever else lies among them.
func (s *Store) numbers(ctx context.Context, process string) (numbers []int, strange []string, err error) {
	items, err := s.values.Under(ctx, placeOf(process))
	for _, i := range items {
		if at, ok := numberAt(process, i.Name); ok {
			numbers = append(numbers, at)
		} else {
			strange = append(strange, i.Name)
		}
	}
	slices.Sort(numbers)
	return numbers, strange, err
}

// Latest gives the number of a process's latest Idea; 0 where it has none.
func (s *Store) Latest(ctx context.Context, process string) (int, error) {
	numbers, _, err := s.numbers(ctx, process)
	if err != nil {
		return 0, fmt.Errorf("chain: find the latest Idea of %s: %w", process, err)
	}
	if len(numbers) == 0 {
		return 0, nil
	}
	return numbers[len(numbers)-1], nil
}
