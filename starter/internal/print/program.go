package print

// ProgramName is the program's name. It begins the program's messages and the commands that they suggest. It is set
// before a verb begins and does not change afterwards.
var ProgramName = "starter"
