package bed

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"processidea/client"
	"processidea/client/ideafiles"
	"processidea/internal/pause"
	"processidea/internal/rehearsal"
	"processidea/model/jsonval"
	"processidea/tools/kinds"
)

// exampleShopAddress is where examples expect their shop.
const exampleShopAddress = "http://127.0.0.1:8765"

// RunExample runs an example of the project, with its replies as the LLM, its shop, and a person who approves whatever
// waits. That person's requests to the server are not counted. The program must be started in the project's folder, or
// in a folder up to two levels below it.
func (b *TestBed) RunExample(ctx context.Context, exampleName string) error {
	options, err := b.readExample(exampleName)
	if err != nil {
		return fmt.Errorf("read example %s: %w", exampleName, err)
	}
	p, err := b.client.Start(ctx, options)
	if err != nil {
		return err
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	go b.approveUntilCanceled(ctx, p.ID())
	_, err = b.Await(ctx, p)
	return err
}

// readExample reads the options from which an example starts.
func (b *TestBed) readExample(exampleName string) (o client.StartOptions, err error) {
	folder, err := findExample(exampleName)
	if err != nil {
		return o, err
	}
	source, err := ideafiles.Find(folder, "", "")
	if err != nil {
		return o, err
	}
	knownTools := ideafiles.WorkerTools{Registry: kinds.NewKnownTools(newToolRegistry(), nil),
		CheckReplies: rehearsal.CountReplies}
	d, problems, err := ideafiles.Load(source, knownTools)
	if err == nil && len(problems.Errors()) > 0 {
		err = problems.Errors()
	}
	if err != nil {
		return o, err
	}
	text := strings.ReplaceAll(jsonval.EncodeToString(d.Idea), exampleShopAddress, b.toolServer.URL+shopPath)
	idea, err := jsonval.DecodeObject([]byte(text))
	if err != nil {
		return o, err
	}
	config, _ := idea["config"].(jsonval.Object)
	// On a slow machine a Request would otherwise not wait for the last of two hundred instances.
	idea["config"] = jsonval.DeepMerge(config, jsonval.Object{"gather": "10m"})
	return client.StartOptions{ID: "example-" + exampleName, Idea: idea, ScriptedReplies: d.RepliesText,
		DelegateFiles: d.DelegateFiles,
		StartedBy:     "bench"}, nil
}

// findExample looks for an example's folder below the current folder and the two folders above it.
func findExample(exampleName string) (folder string, err error) {
	for _, parent := range []string{".", "..", "../.."} {
		folder = filepath.Join(parent, "examples", exampleName)
		if _, err = os.Stat(folder); !errors.Is(err, fs.ErrNotExist) {
			break
		}
	}
	return folder, err
}

// approveUntilCanceled approves what waits until ctx ends. A decision that fails is made again in the next round.
func (b *TestBed) approveUntilCanceled(ctx context.Context, processID string) {
	p := b.uncountedClient.Process(processID)
	for pause.For(ctx, 300*time.Millisecond) == nil {
		list, _ := p.Approvals(ctx)
		for _, a := range list {
			_ = p.Decide(ctx, client.Decision{Kind: client.Approve, CallID: a.CallID, ApprovalDigest: a.Digest,
				By: "bench"})
		}
	}
}
