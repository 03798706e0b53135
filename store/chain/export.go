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
func (s *Store) Export(ctx context.Context, processID string, w io.Writer) (err error) {
	defer wrapError(&err, "export %s", processID)
	ctx = blobs.WithProcess(ctx, processID)
	manifests, err := s.manifests(ctx, processID)
	if err != nil {
		return err
	}
	for i, m := range manifests {
		if ideaNumber := m.metaNumber("at"); ideaNumber != i+1 {
			return brokenErrorf(ManifestName(processID, i+1), "%s", gapText(i+1, ideaNumber-1))
		}
	}
	lastManifest := manifests[len(manifests)-1]
	head := exportHead{exportFormat, exportVersion, processID, len(manifests), lastManifest.Digest}
	if err := writeLine(w, jsonval.ToJSONValue(head)); err != nil {
		return err
	}
	chainExporter := exporter{Store: s, writtenDigests: map[string]bool{}}
	for _, m := range manifests {
		line, err := chainExporter.buildLine(ctx, m)
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
	lastIdea       *loadedIdea
	writtenDigests map[string]bool // the digests of the values that are already in the export
}

func (x *exporter) buildLine(ctx context.Context, m *manifest) (jsonval.Object, error) {
	wholeIdea, currentIdea, err := x.load(ctx, m, x.lastIdea)
	if err != nil {
		return nil, err
	}
	x.lastIdea = currentIdea
	line := jsonval.Object{"idea": wholeIdea}
	if m.RedactedDigest != "" {
		line["left"] = m.RedactedDigest
	}
	log, err := x.logValue(ctx, m)
	if err != nil || log == nil {
		return line, err
	}
	line["log"] = log
	valueByDigest := jsonval.Object{}
	if err := x.collectValues(ctx, log, valueByDigest); err != nil {
		return nil, err
	}
	if len(valueByDigest) > 0 {
		line["values"] = valueByDigest
	}
	return line, nil
}

// collectValues collects the stored values that v refers to, and those that they refer to, except the values that are
// already in the export.
func (x *exporter) collectValues(ctx context.Context, v any, valueByDigest jsonval.Object) error {
	for _, digest := range digestsOfHandles(v) {
		if x.writtenDigests[digest] {
			continue
		}
		x.writtenDigests[digest] = true
		value, err := x.readStoredValue(ctx, digest)
		if err != nil {
			return err
		}
		valueByDigest[digest] = value
		if err := x.collectValues(ctx, value, valueByDigest); err != nil {
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
