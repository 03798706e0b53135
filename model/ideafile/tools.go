package ideafile

const ToolsPath = "$.schema.tools"
