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
	ShufflePurposeRequest  = 0
	ShufflePurposeRecheck  = 1
	shufflePurposeSampling = 2
)

// ShuffledOrder returns the permutation of n places that follows from a seed, the number of a Request, and a purpose.
// Without a seed it is the order of the file.
func ShuffledOrder(seed string, requestNumber, purpose, n int) []int {
	order := make([]int, n)
	for i := range order {
		order[i] = i
	}
	if seed == "" {
		return order
	}
	sum := sha256.Sum256(fmt.Appendf(nil, "%s/%d/%d", seed, requestNumber, purpose))
	generatorState := binary.BigEndian.Uint64(sum[:])
	for i := n - 1; i > 0; i-- {
		j := int(splitMix64(&generatorState) % uint64(i+1))
		order[i], order[j] = order[j], order[i]
	}
	return order
}

// RecheckOrder returns the order of the instances in the prompt of a recheck. firstPositions has their places in the
// first prompt: they never stand in that order again.
func RecheckOrder(seed string, requestNumber int, firstPositions []int) []int {
	order := ShuffledOrder(seed, requestNumber, ShufflePurposeRecheck, len(firstPositions))
	if seed != "" && slices.IsSortedFunc(order, func(a, b int) int { return firstPositions[a] - firstPositions[b] }) {
		slices.Reverse(order)
	}
	return order
}

// splitMix64 is the generator SplitMix64: the same in every version of Go and on every machine.
func splitMix64(state *uint64) uint64 {
	*state += 0x9e3779b97f4a7c15
	z := *state
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

// DrawRecheckSample draws a share of the n instances of a Request, and returns their places in it. A fraction of an
// instance is carried over, so that in the end the share is exact; the seed sets the initial fraction. With whole, all
// instances of a Request are drawn or none, since a prompt for a few would repeat its rules and Tools.
func (t *Tally) DrawRecheckSample(seed string, requestNumber, instanceCount int, recheckShare float64,
	drawsAllOrNone bool) []int {
	if recheckShare <= 0 {
		return nil
	}
	lotSize := 1
	if drawsAllOrNone {
		lotSize = instanceCount
	}
	t.CoveredInstanceCount += instanceCount
	wantedCount := int(float64(recheckShare*float64(t.CoveredInstanceCount)) +
		float64(initialSampleFraction(seed)*float64(lotSize)))
	drawCount := min(max(wantedCount-t.SampledInstanceCount, 0), instanceCount)
	drawCount -= drawCount % lotSize
	t.SampledInstanceCount += drawCount
	return ShuffledOrder(seed, requestNumber, shufflePurposeSampling, instanceCount)[:drawCount]
}

// initialSampleFraction returns the initial fraction of Draw, which follows from the seed. Seeds of parts end in the
// part's number, and their fractions are spread evenly, by steps of the golden ratio, so that the parts together keep
// the share, too.
func initialSampleFraction(seed string) float64 {
	separatorIndex := strings.LastIndexByte(seed, '/')
	partNumber, err := strconv.Atoi(seed[separatorIndex+1:])
	if separatorIndex < 0 || err != nil {
		separatorIndex, partNumber = len(seed), 0
	}
	sum := sha256.Sum256([]byte(seed[:separatorIndex]))
	fraction := math.Ldexp(float64(binary.BigEndian.Uint32(sum[:])), -32) // fine enough for every share
	return math.Mod(fraction+float64(float64(partNumber)*math.Phi), 1)
}

// NewSeed returns the seed of a process whose Idea has none.
func NewSeed(processID string) string {
	return jsonval.Digest("seed of " + processID)[:16]
}
