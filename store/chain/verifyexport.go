package chain

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"processidea/model/jsonval"
	"processidea/protocol"
	"processidea/store/blobs"
	"processidea/store/proofs"
)

// ErrNoExport says that a file is no export of a chain.
var ErrNoExport = errors.New("this is no export of a chain")

// VerifyExport checks an export from the file alone, in the way of Verify: broken places are lines, not parts. It
// checks the signatures of decisions with the given keys, and skips them if deciders is nil. The error is for a file
// that cannot be read or is no export.
func VerifyExport(r io.Reader, proofVerifier proofs.ProofVerifier) (report *Report, err error) {
	defer wrapError(&err, "verify export")
	v := &exportVerifier{report: newReport(""), audit: proofs.New(proofVerifier), deliveredDigests: map[string]bool{},
		neededDigests: map[string]bool{}}
	lineReader := bufio.NewReader(r)
	for v.lineNumber = 1; ; v.lineNumber++ {
		data, err := lineReader.ReadBytes('\n')
		if errors.Is(err, io.EOF) && len(data) == 0 {
			break
		}
		if err != nil && !errors.Is(err, io.EOF) {
			return nil, err
		}
		if v.lineNumber == 1 && !bytes.Contains(data, []byte(exportFormat)) && !bytes.Contains(data, []byte(`"digest"`)) {
			break
		}
		v.verifyLine(data)
	}
	if v.lineNumber == 1 {
		return nil, ErrNoExport
	}
	v.checkHead()
	return v.report.finish(), nil
}

// exportVerifier checks one export, line by line.
type exportVerifier struct {
	report           *Report
	audit            *proofs.Audit
	lineNumber       int
	head             exportHead
	processID        string // processID of the first intact Idea
	previousDigest   string // digest of the previous Idea; empty if that is not intact
	deliveredDigests map[string]bool
	neededDigests    map[string]bool
	redactions       redactionCheck
}

func (v *exportVerifier) addBroken(lineNumber int, format string, args ...any) {
	v.report.addBrokenItem(max(lineNumber-1, 0), fmt.Sprintf("line %d", lineNumber), format, args...)
}

func (v *exportVerifier) verifyLine(data []byte) {
	err := v.checkLine(data)
	if err == nil {
		return
	}
	v.addBroken(v.lineNumber, "%s", err)
	if v.lineNumber > 1 {
		v.report.IdeaCount++
		v.report.UnreadableIdeaNumbers = append(v.report.UnreadableIdeaNumbers, v.lineNumber-1)
		v.report.addUnloadable(fmt.Sprintf("line %d", v.lineNumber), v.lineNumber-1)
		v.previousDigest = ""
	}
}

func (v *exportVerifier) checkLine(data []byte) error {
	text, hasLineEnd := bytes.CutSuffix(data, []byte("\n"))
	if !hasLineEnd {
		return errors.New("the file ends inside the line")
	}
	value, err := decodeStoredJSON(text)
	if err != nil {
		return err
	}
	line, isObject := value.(jsonval.Object)
	if !isObject || !bytes.Equal(jsonval.Encode(value), text) {
		return errors.New("these are not the bytes that were written: the JSON is not canonical")
	}
	if v.lineNumber == 1 {
		return v.readHead(line, text)
	}
	return v.checkIdea(line)
}

func (v *exportVerifier) readHead(line jsonval.Object, text []byte) error {
	if err := json.Unmarshal(text, &v.head); err != nil {
		return err
	}
	if !jsonval.Equal(line, jsonval.ToJSONValue(v.head)) || v.head.Format != exportFormat ||
		v.head.Version != exportVersion {
		return fmt.Errorf("this is not the first line of an export of version %d", exportVersion)
	}
	return nil
}

func (v *exportVerifier) checkIdea(line jsonval.Object) error {
	idea := jsonval.AsObject(line["idea"])
	meta := jsonval.AsObject(idea["meta"])
	digest := jsonval.AsText(meta["digest"])
	delete(meta, "digest")
	m := &manifest{Meta: meta, Digest: digest, RedactedDigest: jsonval.AsText(line["left"])}
	if digestOf(idea) != m.contentDigest() {
		return errors.New("the Idea has another digest than it says")
	}
	v.redactions.addIdea(v.report, m)
	for _, k := range jsonval.SortedKeys(line) {
		if k != "idea" && k != "log" && k != "values" && k != "left" {
			return fmt.Errorf("an Idea's line has no %q", jsonval.Clip(k, 40))
		}
	}
	if err := v.checkLink(m); err != nil {
		return err
	}
	if err := v.checkLog(meta, line); err != nil {
		return err
	}
	v.report.IdeaCount++
	v.report.noteSimulated(meta)
	item := fmt.Sprintf("line %d", v.lineNumber)
	v.report.addDecisionProblems(v.lineNumber-1, item, v.audit.CheckDecisionsOfIdea(v.processID, line["log"]))
	if v.lineNumber == 2 {
		v.report.addDecisionProblems(v.lineNumber-1, item, v.audit.CheckInheritedProofs(idea))
		v.report.ForkOrigin, v.report.Undoes = meta[forkOriginMetaKey], meta[protocol.UndoesMetaKey]
	}
	v.previousDigest = digest
	v.report.Created = m.link().Created
	return nil
}

// checkLink checks that an Idea follows the one before.
func (v *exportVerifier) checkLink(m *manifest) error {
	if v.processID == "" {
		v.processID = m.metaText("process")
	}
	switch ideaNumber := m.metaNumber("at"); {
	case m.metaText("process") != v.processID:
		return fmt.Errorf("it is an Idea of %s", m.metaText("process"))
	case ideaNumber != v.lineNumber-1:
		return fmt.Errorf("it is Idea %d and stands where Idea %d belongs", ideaNumber, v.lineNumber-1)
	case v.lineNumber == 2 && m.metaText("parent") != "", v.previousDigest != "" &&
		m.metaText("parent") != v.previousDigest:
		return errors.New("its parent is not the Idea before it")
	}
	return nil
}

// checkLog checks an Idea's log, and the values that the export delivers for the log's handles.
func (v *exportVerifier) checkLog(meta, line jsonval.Object) error {
	log, hasLog := line["log"]
	if logDigest, hasLogDigest := meta["log"]; hasLog != hasLogDigest || (hasLog && digestOf(log) != logDigest) {
		return errors.New("the log is not the one that meta.log names")
	}
	v.noteNeededDigests(log)
	values, isObject := line["values"].(jsonval.Object)
	if _, hasValues := line["values"]; hasValues != isObject || (hasValues && len(values) == 0) {
		return errors.New("its values are no object by digest")
	}
	for digest, value := range values {
		if digestOf(value) != digest {
			return fmt.Errorf("the value %s: %w", jsonval.Clip(digest, 64), blobs.ErrChanged)
		}
		v.deliveredDigests[digest] = true
		v.noteNeededDigests(value)
	}
	for digest := range v.neededDigests {
		if !v.deliveredDigests[digest] {
			return fmt.Errorf("the value %s: it is not given", digest)
		}
	}
	for digest := range values {
		if !v.neededDigests[digest] {
			return fmt.Errorf("the value %s: nothing needs it", digest)
		}
	}
	return nil
}

func (v *exportVerifier) noteNeededDigests(value any) {
	for _, digest := range digestsOfHandles(value) {
		v.neededDigests[digest] = true
	}
}

// checkHead checks the head against the Ideas that followed it.
func (v *exportVerifier) checkHead() {
	v.report.Process, v.report.Digest = v.processID, v.previousDigest
	v.redactions.reportMismatches(v.report, fmt.Sprintf("line %d", v.lineNumber-1))
	v.report.Decisions = v.audit.Counts
	switch {
	case v.processID != "" && v.head.Process != v.processID:
		v.addBroken(1, "it says that the process is %s, but it is %s", v.head.Process, v.processID)
	case v.head.IdeaCount != v.report.IdeaCount:
		v.addBroken(1, "it says that there are %d Ideas, but there are %d", v.head.IdeaCount, v.report.IdeaCount)
	case v.previousDigest != "" && v.head.Digest != v.previousDigest:
		v.addBroken(1, "it says that the last Idea is another")
	case v.report.IdeaCount == 0:
		v.addBroken(1, "there is no Idea")
	}
}
