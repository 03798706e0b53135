package print

// Program is the program's name, with which its messages begin and which stands in the commands that they suggest. It
// is set before a verb begins, and is the same for the whole program.
var Program = "starter"
