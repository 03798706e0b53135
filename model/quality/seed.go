package quality

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"processidea/model/jsonval"
)

// The purposes of an order: the instances in the prompt of a Request, the instances in the prompt of its recheck, and
// the drawing for the recheck.
const (
	AskedFirst     = 0
	AskedAgain     = 1
	purposeDrawing = 2
)

// Order returns the permutation of n places that follows from a seed, the number of a Request, and a purpose. Without a
// seed it is the order of the file.
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

// OrderAgain returns the order of the instances in the prompt of a recheck. first has their places in the first prompt:
// they never stand in that order again.
func OrderAgain(seed string, request int, first []int) []int {
	order := Order(seed, request, AskedAgain, len(first))
	if seed != "" && slices.IsSortedFunc(order, func(a, b int) int { return first[a] - first[b] }) {
		slices.Reverse(order)
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

// Draw draws a share of the n instances of a Request, and returns their places in it. A fraction of an instance is
// carried over, so that in the end the share is exact; the seed sets the initial fraction. With whole, all instances of
// a Request are drawn or none, since a prompt for a few would repeat its rules and Tools.
func (t *Tally) Draw(seed string, request, n int, share float64, whole bool) []int {
	if share <= 0 {
		return nil
	}
	lot := 1
	if whole {
		lot = n
	}
	t.Covered += n
	due := min(max(int(float64(share*float64(t.Covered))+float64(initialRest(seed)*float64(lot)))-t.Drawn, 0), n)
	due -= due % lot
	t.Drawn += due
	return Order(seed, request, purposeDrawing, n)[:due]
}

// initialRest returns the initial fraction of Draw, which follows from the seed. Seeds of parts end in the part's
// number, and their fractions are spread evenly, by steps of the golden ratio, so that the parts together keep the
// share, too.
func initialRest(seed string) float64 {
	at := strings.LastIndexByte(seed, '/')
	part, err := strconv.Atoi(seed[at+1:])
	if at < 0 || err != nil {
		at, part = len(seed), 0
	}
	sum := sha256.Sum256([]byte(seed[:at]))
	fraction := math.Ldexp(float64(binary.BigEndian.Uint32(sum[:])), -32) // fine enough for every share
	return math.Mod(fraction+float64(float64(part)*math.Phi), 1)
}

// NewSeed returns the seed of a process whose Idea has none.
func NewSeed(process string) string {
	return jsonval.Digest("seed of " + process)[:16]
}
