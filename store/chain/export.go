package chain

import (
	"context"
	"io"

	"processidea/model/jsonval"
	"processidea/store/blobs"
)

// An export is JSON Lines in canonical bytes: a head, then every Idea with its log. If a log holds handles, their
// values are written once, by digest, with the first Idea that needs them.
const (
	exportFormat  = "processidea-chain"
	exportVersion = 1
)

// exportHead is the first line of an export.
type exportHead struct {
	Format    string `json:"format"`
	Version   int    `json:"version"`
	Process   string `json:"process"`
	IdeaCount int    `json:"ideas"`
	Digest    string `json:"digest"` // of the last Idea
}

// Export writes a whole chain as one file that VerifyExport checks without a store. A chain with a broken place is not
// exported: the error names the place.
func (s *Store) Export(ctx context.Context, process string, w io.Writer) (err error) {
	defer wrapError(&err, "export %s", process)
	ctx = blobs.ForProcess(ctx, process)
	manifests, err := s.manifests(ctx, process)
	if err != nil {
		return err
	}
	for i, m := range manifests {
		if number := m.metaNumber("at"); number != i+1 {
			return brokenErrorf(ManifestName(process, i+1), "%s", gapText(i+1, number-1))
		}
	}
	last := manifests[len(manifests)-1]
	head := exportHead{exportFormat, exportVersion, process, len(manifests), last.Digest}
	if err := writeLine(w, jsonval.ToJSONValue(head)); err != nil {
		return err
	}
	exporting := exporter{Store: s, writtenValues: map[string]bool{}}
	for _, m := range manifests {
		line, err := exporting.encodeLine(ctx, m)
		if err != nil {
			return err
		}
		if err := writeLine(w, line); err != nil {
			return err
		}
	}
	return nil
}

func writeLine(w io.Writer, v any) error {
	_, err := w.Write(append(jsonval.Encode(v), '\n'))
	return err
}

// exporter writes one chain.
type exporter struct {
	*Store
	lastState     *state
	writtenValues map[string]bool // the digests of the values that are already in the export
}

func (x *exporter) encodeLine(ctx context.Context, m *manifest) (jsonval.Object, error) {
	wholeIdea, loaded, err := x.load(ctx, m, x.lastState)
	if err != nil {
		return nil, err
	}
	x.lastState = loaded
	line := jsonval.Object{"idea": wholeIdea}
	if m.RedactedDigest != "" {
		line["left"] = m.RedactedDigest
	}
	log, err := x.logValue(ctx, m)
	if err != nil || log == nil {
		return line, err
	}
	line["log"] = log
	values := jsonval.Object{}
	if err := x.collectValues(ctx, log, values); err != nil {
		return nil, err
	}
	if len(values) > 0 {
		line["values"] = values
	}
	return line, nil
}

// collectValues collects the stored values that v refers to, and those that they refer to, except the values that are
// already in the export.
func (x *exporter) collectValues(ctx context.Context, v any, values jsonval.Object) error {
	for _, digest := range digestsOfHandles(v) {
		if x.writtenValues[digest] {
			continue
		}
		x.writtenValues[digest] = true
		value, err := x.readStoredPart(ctx, digest)
		if err != nil {
			return err
		}
		values[digest] = value
		if err := x.collectValues(ctx, value, values); err != nil {
			return err
		}
	}
	return nil
}

// digestsOfHandles lists the digests of the handles in a value.
func digestsOfHandles(v any) (digests []string) {
	if h, ok := jsonval.AsBlobHandle(v); ok {
		return []string{h.Digest}
	}
	switch v := v.(type) {
	case jsonval.Object:
		for _, value := range jsonval.Sorted(v) {
			digests = append(digests, digestsOfHandles(value)...)
		}
	case []any:
		for _, e := range v {
			digests = append(digests, digestsOfHandles(e)...)
		}
	}
	return digests
}
