// Package yamlvalue reads YAML as the JSON value that it represents.
package yamlvalue

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/big"
	"regexp"
	"strings"

	"go.yaml.in/yaml/v3"

	"processidea/model/diag"
	"processidea/model/jsonval"
)

// maxAliasNodes bounds what the aliases of a YAML file may add to it.
const maxAliasNodes = 1_000_000

// maxYAMLDepth bounds the recursion. It is higher than the limit of jsonval.Decode, which checks every value
// afterwards.
const maxYAMLDepth = 200

// Decode reads a YAML file as jsonval.DecodeWithKeyOrder reads JSON. Numbers keep every digit. A duplicate key is
// refused, and so is anything that JSON cannot express.
func Decode(data []byte) (any, jsonval.KeyOrder, *diag.Problem) {
	return decode(data, yamlReader{maxNodeCount: jsonval.UntrustedNodeLimit.MaxNodes(len(data)) + maxAliasNodes})
}

// DecodeLenient is Decode for files of other programs. It applies merge keys, and rewrites 0x1F, 1_000, +1 and .5 as
// JSON numbers, exactly. Values without a certain JSON number stay texts: 1e400, .inf, and 010, which is 8 or 10
// depending on the version of YAML.
func DecodeLenient(data []byte) (any, jsonval.KeyOrder, *diag.Problem) {
	return decode(data, yamlReader{maxNodeCount: jsonval.UntrustedNodeLimit.MaxNodes(len(data)) + maxAliasNodes,
		isLenient: true})
}

func decode(data []byte, y yamlReader) (any, jsonval.KeyOrder, *diag.Problem) {
	if err := CheckNodeCount(data); err != nil {
		return nil, nil, &diag.Problem{JSONPath: "$", Message: err.Error()}
	}
	d := yaml.NewDecoder(bytes.NewReader(data))
	var document, secondDocument yaml.Node
	if err := d.Decode(&document); err != nil {
		return nil, nil, &diag.Problem{JSONPath: "$", Message: yamlErrorText(err)}
	}
	if err := d.Decode(&secondDocument); !errors.Is(err, io.EOF) {
		return nil, nil, &diag.Problem{JSONPath: "$", Message: "the file holds a second document"}
	}
	var order jsonval.KeyOrder
	v, err := y.readValue(&document, "$", 0)
	if err == nil {
		// YAML must keep the limits of JSON files too.
		v, order, err = jsonval.DecodeWithKeyOrder(jsonval.Encode(v), jsonval.DefaultLimits)
	}
	var yamlErr *yamlError
	if errors.As(err, &yamlErr) {
		return nil, nil, &diag.Problem{JSONPath: yamlErr.path, Message: yamlErr.message}
	}
	if err != nil {
		return nil, nil, &diag.Problem{JSONPath: "$", Message: strings.TrimPrefix(err.Error(), "model: decode JSON: ")}
	}
	return v, order, nil
}

// CheckNodeCount refuses a text of YAML, or of JSON, which is YAML too, that may have too many parts for its length.
func CheckNodeCount(data []byte) error {
	if maxPossibleNodes(data) > jsonval.UntrustedNodeLimit.MaxNodes(len(data)) {
		return jsonval.UntrustedNodeLimit.ExceededError(len(data))
	}
	return nil
}

// maxPossibleNodes counts the characters that may begin a value or a key in YAML, and so never too few.
func maxPossibleNodes(data []byte) (n int) {
	for _, b := range data {
		switch b {
		case ',', ':', '[', '{', '-', '\n':
			n++
		}
	}
	return n
}

func yamlErrorText(err error) string {
	if errors.Is(err, io.EOF) {
		return "the file is empty"
	}
	return strings.TrimPrefix(err.Error(), "yaml: ")
}

type yamlReader struct {
	nodeCount, maxNodeCount int
	isLenient               bool
}

type yamlError struct{ path, message string }

func (e *yamlError) Error() string { return e.path + ": " + e.message }

func errorAt(n *yaml.Node, path, format string, args ...any) error {
	return &yamlError{path, fmt.Sprintf("line %d: ", n.Line) + fmt.Sprintf(format, args...)}
}

func (y *yamlReader) readValue(n *yaml.Node, path string, depth int) (any, error) {
	if y.nodeCount++; y.nodeCount > y.maxNodeCount {
		return nil, errorAt(n, path, "the file expands to more than %d values", y.maxNodeCount)
	}
	if depth > maxYAMLDepth {
		return nil, errorAt(n, path, "nested too deep")
	}
	switch n.Kind {
	case yaml.DocumentNode:
		return y.readValue(n.Content[0], path, depth)
	case yaml.AliasNode:
		return y.readValue(n.Alias, path, depth+1)
	case yaml.MappingNode:
		return y.readObject(n, path, depth)
	case yaml.SequenceNode:
		return y.readArray(n, path, depth)
	}
	return y.readScalar(n, path)
}

func (y *yamlReader) readObject(n *yaml.Node, path string, depth int) (any, error) {
	m, isSeen := make(jsonval.OrderedObject, 0, len(n.Content)/2), make(map[string]bool, len(n.Content)/2)
	var mergedObjects []any
	for i := 0; i+1 < len(n.Content); i += 2 {
		k := n.Content[i]
		if k.Kind == yaml.AliasNode {
			k = k.Alias
		}
		keyPath := jsonval.JSONPathWithKeys(path, k.Value)
		switch {
		case k.Kind != yaml.ScalarNode:
			return nil, errorAt(k, path, "a key must be a text")
		case k.Tag == "!!merge" && y.isLenient:
			v, err := y.readValue(n.Content[i+1], keyPath, depth+1)
			if err != nil {
				return nil, err
			}
			if list, ok := v.([]any); ok {
				mergedObjects = append(mergedObjects, list...)
			} else {
				mergedObjects = append(mergedObjects, v)
			}
			continue
		case k.Tag == "!!merge":
			return nil, errorAt(k, path, "merge keys are not read; JSON has none")
		}
		if isSeen[k.Value] {
			return nil, errorAt(k, keyPath, "the key stands twice")
		}
		v, err := y.readValue(n.Content[i+1], keyPath, depth+1)
		if err != nil {
			return nil, err
		}
		m, isSeen[k.Value] = m.Append(k.Value, v), true
	}
	for _, mergedObject := range mergedObjects {
		mergedObject, _ := mergedObject.(jsonval.OrderedObject)
		for _, f := range mergedObject {
			if !isSeen[f.Key] {
				m, isSeen[f.Key] = append(m, f), true
			}
		}
	}
	return m, nil
}

func (y *yamlReader) readArray(n *yaml.Node, path string, depth int) (any, error) {
	list := make([]any, len(n.Content))
	for i, e := range n.Content {
		v, err := y.readValue(e, fmt.Sprintf("%s[%d]", path, i), depth+1)
		if err != nil {
			return nil, err
		}
		list[i] = v
	}
	return list, nil
}

// readScalar reads one plain value. Dates become texts, as in JSON.
func (y *yamlReader) readScalar(n *yaml.Node, path string) (any, error) {
	// The YAML package reads a number that is too large for a float as a text.
	if n.Style == 0 && isNumber(n.Value) {
		return y.numberOrText(n.Value), nil
	}
	switch n.ShortTag() {
	case "!!str", "!!timestamp":
		return n.Value, nil
	case "!!null":
		return nil, nil
	case "!!bool":
		return strings.EqualFold(n.Value, "true"), nil
	case "!!int", "!!float":
		if isNumber(n.Value) || y.isLenient {
			return y.numberOrText(toJSONNumber(n.Value)), nil
		}
		return nil, errorAt(n, path, "%s is no number as JSON writes it; put quotes around a text", n.Value)
	}
	return nil, errorAt(n, path, "JSON has no %s", n.ShortTag())
}

// numberOrText returns a JSON number. In a foreign file, a number that jsonval.Decode refuses stays a text.
func (y *yamlReader) numberOrText(text string) any {
	if y.isLenient {
		if _, err := jsonval.Decode([]byte(text)); err != nil {
			return text
		}
	}
	return json.Number(text)
}

var decimalPattern = regexp.MustCompile(`^(0|[1-9][0-9]*)?(\.[0-9]*)?([eE][-+]?[0-9]+)?$`)

// toJSONNumber rewrites a YAML number as a JSON number, if there is exactly one way to do so.
func toJSONNumber(text string) string {
	withoutPlus := strings.TrimPrefix(strings.ReplaceAll(text, "_", ""), "+")
	digits, isNegative := strings.CutPrefix(withoutPlus, "-")
	sign := ""
	if isNegative {
		sign = "-"
	}
	if len(digits) > 2 && strings.Contains("xXoObB", digits[1:2]) {
		if integer, ok := new(big.Int).SetString(digits, 0); ok {
			return sign + integer.String()
		}
	}
	parts := decimalPattern.FindStringSubmatch(digits)
	if parts == nil {
		return text
	}
	if parts[2] == "." {
		parts[2] = ""
	}
	return sign + cmp.Or(parts[1], "0") + parts[2] + parts[3]
}

func isNumber(s string) bool {
	return s != "" && strings.ContainsRune("-0123456789", rune(s[0])) && json.Valid([]byte(s))
}
