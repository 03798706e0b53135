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
	Process      string
	IdeaNumber   int    // from 1
	ParentDigest string // digest of the previous Idea; empty for the first
	// Idea is the whole Idea: meta, config, schema, context, solution, delegates. Handles in it refer to values in the
	// store.
	Idea jsonval.Object
	// Log is what changed the instances since the parent.
	Log     []turn.LogEntry
	Created time.Time
}

// draft is an Entry in the form in which it is hashed and stored.
type draft struct {
	meta jsonval.Object // without digest
	body jsonval.Object
	log  any // nil if the log is empty
}

// metaKeysSetBySeal are the keys of meta that each Idea sets for itself. They are not taken over from the Idea that its
// process started from.
var metaKeysSetBySeal = []string{"digest", "parent", "log", "decisions", forgottenKey, forgottenInstanceKey}

func (e IdeaToSeal) draft() (draft, error) {
	switch {
	case e.Process == "":
		return draft{}, fmt.Errorf("the process has no name")
	case e.IdeaNumber < 1:
		return draft{}, fmt.Errorf("Ideas are numbered from 1")
	}
	d := draft{body: jsonval.WithoutKey(e.Idea, "meta"), meta: jsonval.Object{}}
	maps.Copy(d.meta, jsonval.AsObject(e.Idea["meta"]))
	for _, k := range metaKeysSetBySeal {
		delete(d.meta, k)
	}
	d.meta["process"], d.meta["at"] = e.Process, jsonval.ToJSONValue(e.IdeaNumber)
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

const createdAtKey = "createdAt"

func formatTime(t time.Time) string { return t.UTC().Format(time.RFC3339Nano) }

// digest returns the Idea's digest, and the size of the hashed bytes.
func (d draft) digest(ctx context.Context, blobStore *blobs.Store) (digest string, size int, err error) {
	sum := sha256.New()
	err = blobStore.EncodeRestored(ctx, joinIdea(d.meta, d.body), func(data []byte) {
		size += len(data)
		sum.Write(data)
	})
	return hex.EncodeToString(sum.Sum(nil)), size, err
}

// joinIdea joins an Idea's meta and body.
func joinIdea(meta, body jsonval.Object) jsonval.Object { return jsonval.WithKey(body, "meta", meta) }

// walkTexts visits all texts of an Idea.
func (d draft) walkTexts(w texts.Walker) error {
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
func (d draft) counts() Counts {
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

// metaKeysNotInherited are the keys of meta that describe only the Idea itself; an Idea made from it does not get them.
// The Request's number is inherited, because the process that starts from the Idea makes that Request again.
var metaKeysNotInherited = []string{
	"process", "at", "parent", "digest", "log", "decisions", "llm", "parts", createdAtKey, forgottenKey,
	forgottenInstanceKey,
}

// originKey is the key of meta that names the Idea from which a process was forked: {"process", "at", "digest"}.
const originKey = "origin"

// ForkedIdea returns an Idea, as Load returns it, in the form from which another process starts: its meta names its
// origin.
func ForkedIdea(idea jsonval.Object) jsonval.Object {
	originMeta := jsonval.AsObject(idea["meta"])
	meta := jsonval.WithKey(originMeta, originKey,
		jsonval.Object{"process": originMeta["process"], "at": originMeta["at"], "digest": originMeta["digest"]})
	for _, k := range metaKeysNotInherited {
		delete(meta, k)
	}
	return joinIdea(meta, idea)
}

// WithoutOrigin removes the origin from an Idea that starts a process but is no fork. Otherwise a caller could claim
// any origin for it.
func WithoutOrigin(idea jsonval.Object) jsonval.Object {
	meta := jsonval.AsObject(idea["meta"])
	if _, hasOrigin := meta[originKey]; !hasOrigin {
		return idea
	}
	return joinIdea(jsonval.WithoutKey(meta, originKey), idea)
}

// MarkForgotten marks the forgotten instances in a fork as forgotten, so that no Call targets them.
func MarkForgotten(forkedIdea jsonval.Object, forgottenByToken map[string]ForgetRecord) {
	for _, raw := range jsonval.AsList(forkedIdea["context"]) {
		m := jsonval.AsObject(raw)
		if _, isForgotten := forgottenByToken[jsonval.AsText(m["_instance"])]; isForgotten {
			m[ideafile.InstanceStatusKey] = string(ideafile.InstanceForgotten)
		}
	}
}
