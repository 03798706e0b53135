package ideafile

// DefaultBatch is how many instances a process has at most before it is split, unless its config says otherwise.
const DefaultBatch = 100
