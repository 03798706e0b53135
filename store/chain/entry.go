package chain

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"time"

	"processidea/model/ideafile"
	"processidea/model/jsonval"
	"processidea/model/turn"
	"processidea/store/blobs"
	"processidea/store/texts"
)

// IdeaToSeal is one Idea of a chain, before it has a digest.
type IdeaToSeal struct {
	ProcessID    string
	IdeaNumber   int    // from 1
	ParentDigest string // digest of the previous Idea; empty for the first
	// Idea is the whole Idea: meta, config, schema, context, solution, delegates. Handles in it refer to values in the
	// store.
	Idea jsonval.Object
	// Log is what changed the instances since the parent.
	Log     []turn.LogEntry
	Created time.Time
}

// ideaContent is an Entry in the form in which it is hashed and stored.
type ideaContent struct {
	meta jsonval.Object // without digest
	body jsonval.Object
	log  any // nil if the log is empty
}

// metaKeysSetBySeal are the keys of meta that each Idea sets for itself. They are not taken over from the Idea that its
// process started from.
var metaKeysSetBySeal = []string{"digest", "parent", "log", "decisions", forgottenMetaKey, forgottenInstanceMetaKey}

func (e IdeaToSeal) content() (ideaContent, error) {
	switch {
	case e.ProcessID == "":
		return ideaContent{}, fmt.Errorf("the process has no name")
	case e.IdeaNumber < 1:
		return ideaContent{}, fmt.Errorf("Ideas are numbered from 1")
	}
	d := ideaContent{body: jsonval.WithoutKey(e.Idea, "meta"), meta: jsonval.Object{}}
	maps.Copy(d.meta, jsonval.AsObject(e.Idea["meta"]))
	for _, k := range metaKeysSetBySeal {
		delete(d.meta, k)
	}
	d.meta["process"], d.meta["at"] = e.ProcessID, jsonval.ToJSONValue(e.IdeaNumber)
	if e.ParentDigest != "" {
		d.meta["parent"] = e.ParentDigest
	}
	if len(e.Log) > 0 {
		d.log = turn.EncodeLog(e.Log)
		d.meta["log"] = digestOf(d.log)
	}
	if decisionSummary := turn.SummarizeDecisions(e.Log); len(decisionSummary) > 0 {
		d.meta["decisions"] = decisionSummary
	}
	return d, nil
}

const createdAtMetaKey = "createdAt"

func formatTime(t time.Time) string { return t.UTC().Format(time.RFC3339Nano) }

// digest returns the Idea's digest, and the size of the hashed bytes.
func (d ideaContent) digest(ctx context.Context, blobStore *blobs.Store) (digest string, ideaBytes int, err error) {
	sum := sha256.New()
	err = blobStore.EncodeRestored(ctx, joinIdea(d.meta, d.body), func(data []byte) {
		ideaBytes += len(data)
		sum.Write(data)
	})
	return hex.EncodeToString(sum.Sum(nil)), ideaBytes, err
}

// joinIdea joins an Idea's meta and body.
func joinIdea(meta, body jsonval.Object) jsonval.Object { return jsonval.WithKey(body, "meta", meta) }

// walkTexts visits all texts of an Idea.
func (d ideaContent) walkTexts(w texts.Walker) error {
	wholeIdea := joinIdea(d.meta, d.body)
	wholeIdea["log"] = d.log
	return w.WalkValue(wholeIdea, texts.Place{})
}

// restoreIdea joins an Idea's meta and body, and replaces handles by their values.
func restoreIdea(ctx context.Context, blobStore *blobs.Store, meta, body jsonval.Object) (jsonval.Object, error) {
	wholeIdea, err := blobStore.Restore(ctx, joinIdea(meta, body))
	if err != nil {
		return nil, err
	}
	return wholeIdea.(jsonval.Object), nil
}

// counts returns how much the Idea holds.
func (d ideaContent) counts() Counts {
	calls := jsonval.AsList(jsonval.Lookup(d.body, "solution", "calls"))
	c := Counts{Instances: len(ideafile.SplitContextByInstance(d.body["context"]).InstanceTokens), Calls: len(calls)}
	for _, entry := range jsonval.AsList(d.log) {
		e := jsonval.AsObject(entry)
		if e["by"] != nil {
			c.Writes++
		}
		if e["decision"] != nil {
			c.Decisions++
		}
	}
	return c
}

// metaKeysDroppedByFork are the keys of meta that describe only the Idea itself; an Idea made from it does not get
// them. The Request's number is inherited, because the process that starts from the Idea makes that Request again.
var metaKeysDroppedByFork = []string{
	"process", "at", "parent", "digest", "log", "decisions", "llm", "parts", createdAtMetaKey, forgottenMetaKey,
	forgottenInstanceMetaKey,
}

// forkOriginMetaKey is the key of meta that names the Idea from which a process was forked: {"process", "at",
// "digest"}.
const forkOriginMetaKey = "origin"

// ForkedIdea returns an Idea, as Load returns it, in the form from which another process starts: its meta names its
// origin.
func ForkedIdea(idea jsonval.Object) jsonval.Object {
	originMeta := jsonval.AsObject(idea["meta"])
	meta := jsonval.WithKey(originMeta, forkOriginMetaKey,
		jsonval.Object{"process": originMeta["process"], "at": originMeta["at"], "digest": originMeta["digest"]})
	for _, k := range metaKeysDroppedByFork {
		delete(meta, k)
	}
	return joinIdea(meta, idea)
}

// WithoutForkOrigin removes the origin from an Idea that starts a process but is no fork. Otherwise a caller could
// claim any origin for it.
func WithoutForkOrigin(idea jsonval.Object) jsonval.Object {
	meta := jsonval.AsObject(idea["meta"])
	if _, hasOrigin := meta[forkOriginMetaKey]; !hasOrigin {
		return idea
	}
	return joinIdea(jsonval.WithoutKey(meta, forkOriginMetaKey), idea)
}

// MarkForgottenInstances marks the forgotten instances in a fork as forgotten, so that no Call targets them.
func MarkForgottenInstances(forkedIdea jsonval.Object, forgetRecordByToken map[string]ForgetRecord) {
	for _, raw := range jsonval.AsList(forkedIdea["context"]) {
		m := jsonval.AsObject(raw)
		if _, isForgotten := forgetRecordByToken[jsonval.AsText(m["_instance"])]; isForgotten {
			m[ideafile.InstanceStatusKey] = string(ideafile.InstanceForgotten)
		}
	}
}
