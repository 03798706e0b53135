package jq

import (
	"encoding/json"
	"errors"
	"math/big"
	"strings"

	"github.com/itchyny/gojq"
)

const (
	maxIntegerBits     = 4096 // bits of a whole number: squaring doubles them
	valueOverheadBytes = 16   // bytes of a value without its text and its items
	listItemBytes      = 48   // bytes of a place in a growing list, with the garbage from growing
)

var (
	errValueTooLarge = errors.New("it makes a value that is too large")
	errTooManyValues = errors.New("it makes too many values")
)

// budget counts the bytes that one run of a query makes. A time limit alone is not enough: `. + .` repeated thirty
// times fills the memory in a moment.
type budget struct {
	Limits
	spentBytes int
}

func (b *budget) chargeValue(v any, _ []any) any {
	n := estimateSizeUpToLimit(v, b.MaxValueBytes)
	if integer, ok := v.(*big.Int); n > b.MaxValueBytes || (ok && integer.BitLen() > maxIntegerBits) {
		return errValueTooLarge
	}
	return b.spend(n, v)
}

func (b *budget) chargeListItem(v any, _ []any) any { return b.spend(listItemBytes, v) }

func (b *budget) valueSize(v any, _ []any) any { return estimateSizeUpToLimit(v, b.MaxValueBytes) }

func (b *budget) spend(n int, v any) any {
	b.spentBytes += n
	if b.spentBytes > b.MaxTotalBytes {
		return errTooManyValues
	}
	return v
}

// estimateSizeUpToLimit estimates how many bytes v takes written out. It stops counting beyond limit, as a value may
// hold itself a million times over.
func estimateSizeUpToLimit(v any, limit int) int {
	n := valueOverheadBytes
	switch v := v.(type) {
	case string:
		n += len(v)
	case []any:
		for _, item := range v {
			if n > limit {
				break
			}
			n += estimateSizeUpToLimit(item, limit-n)
		}
	case map[string]any:
		for name, item := range v {
			if n > limit {
				break
			}
			n += len(name) + estimateSizeUpToLimit(item, limit-n)
		}
	}
	return n
}

// isWrittenAsInteger reports whether a number is written as a whole number: rounding would turn it into a float.
func isWrittenAsInteger(v any, _ []any) any {
	n, isText := v.(json.Number)
	_, isInt := v.(int)
	_, isBig := v.(*big.Int)
	return isInt || isBig || isText && !strings.ContainsAny(n.String(), ".eE")
}

func numberLiteral(_ any, args []any) any { return json.Number(args[0].(string)) }

// checkedFunctionDefs holds checked forms of functions whose work can exceed their input (as a product, by repeating,
// or in numbers of a million digits), and of functions that would lose digits.
var checkedFunctionDefs = mustParseQuery(`
def _small: if _size > 1000000 then error("it works on a value that is too large") else . end;
def _number: if type == "number" then . else error("only numbers can be computed with, not \(type)") end;
def _split($s): _small | split($s);
def _join($s): if length * ($s | length) > 1000000 then error("it makes a value that is too large") else join($s) end;
def _contains($b): if type != "string" and _size * ($b | _size) > 1000000000
  then error("it compares values that are too large") else contains($b) end;
def _capture($re): if ($re | type) == "string" then capture($re) else error("a pattern is a string") end;
def _del(f): delpaths([path(f) | _step]);
def _fromjson: _small | fromjson;
def _tonumber: if type == "string" and length > 400 then error("it is no number") else tonumber end;
def _floor: if _isWhole then . else floor end;
def _ceil: if _isWhole then . else ceil end;
def _round: if _isWhole then . else round end;
def _trunc: if _isWhole then . else trunc end;
.`).FuncDefs

func mustParseQuery(text string) *gojq.Query {
	query, err := gojq.Parse(text)
	if err != nil {
		panic(err)
	}
	return query
}
