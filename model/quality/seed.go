package quality

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
)

// The purposes of an order: the instances in the prompt of a Request, in that of its recheck, and the drawing for the
// recheck.
const (
	AskedFirst = 0
	AskedAgain = 1
	drawing    = 2
)

// Order is a permutation of n places by a seed, the number of a Request, and its purpose. Without a seed it is the
// order of the file.
func Order(seed string, request, asked, n int) []int {
	order := make([]int, n)
	for i := range order {
		order[i] = i
	}
	if seed == "" {
		return order
	}
	sum := sha256.Sum256(fmt.Appendf(nil, "%s/%d/%d", seed, request, asked))
	state := binary.BigEndian.Uint64(sum[:])
	for i := n - 1; i > 0; i-- {
		j := int(splitMix(&state) % uint64(i+1))
		order[i], order[j] = order[j], order[i]
	}
	return order
}

// splitMix is the generator SplitMix64: the same in every version of Go and on every machine.
func splitMix(state *uint64) uint64 {
	*state += 0x9e3779b97f4a7c15
	z := *state
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

// Draw draws the share of n instances of a Request, by their places in it. A fraction of an instance is carried over,
// so that in the end the share is exact; the seed sets the initial fraction.
func (t *Tally) Draw(seed string, request, n int, share float64) []int {
	if share <= 0 {
		return nil
	}
	t.Covered += n
	sum := sha256.Sum256([]byte(seed))
	rest := float64(sum[0]) / 256
	due := min(max(int(float64(share*float64(t.Covered))+rest)-t.Drawn, 0), n)
	t.Drawn += due
	return Order(seed, request, drawing, n)[:due]
}

// NewSeed is the seed of a process that no Idea gives one.
func NewSeed(process string) string {
	sum := sha256.Sum256([]byte("seed of " + process))
	return fmt.Sprintf("%x", sum[:8])
}
