package print

// Program is the program's name, which begins its messages and the commands that they suggest. It is set before a verb
// begins, and is the same for the whole program.
var Program = "starter"
