// Package templatecheck finds the members that a template reads and that the Go type of its data lacks, for tests.
// Executing a template finds them only in the branches that are taken. It follows range, with, variables, the function
// dict, and each part with each type of data that it is given.
package templatecheck

import (
	"fmt"
	"reflect"
	"text/template/parse"
)

// value is what is known of a value: its type (nil: unknown), whether methods of its pointer can be called, and what
// dict put into it.
type value struct {
	typ           reflect.Type
	isAddressable bool
	dictValues    map[string]value
}

type variable struct {
	name string
	value
}

type checker struct {
	findTree    func(name string) *parse.Tree
	funcs       map[string]any
	checkedKeys map[string]bool // templates with the values that they were given
	variables   []variable
	problems    []string
}

// Problems lists what a template, and those that it uses, read of data without that its type has it. A member of a
// value of unknown type is a problem, too. tree finds a template that has not been executed; nil: there is none.
func Problems(name string, data any, funcs map[string]any, findTree func(name string) *parse.Tree) []string {
	c := &checker{findTree: findTree, funcs: funcs, checkedKeys: map[string]bool{}}
	c.checkTemplate(name, value{typ: reflect.TypeOf(data)})
	return c.problems
}

func (c *checker) checkTemplate(name string, dot value) {
	key := fmt.Sprint(name, dot)
	tree := c.findTree(name)
	if tree == nil {
		c.problems = append(c.problems, fmt.Sprintf("there is no template %q", name))
	}
	if tree == nil || c.checkedKeys[key] {
		return
	}
	c.checkedKeys[key] = true
	outerVariables := c.variables
	c.variables = []variable{{"$", dot}}
	c.checkNodes(tree.Root, dot)
	c.variables = outerVariables
}

func (c *checker) checkNodes(l *parse.ListNode, dot value) {
	if l == nil {
		return
	}
	for _, n := range l.Nodes {
		switch n := n.(type) {
		case *parse.ActionNode:
			c.checkPipe(n.Pipe, dot)
		case *parse.TemplateNode:
			c.checkTemplate(n.Name, c.checkPipe(n.Pipe, dot))
		case *parse.IfNode:
			c.checkBranch(&n.BranchNode, dot, func(value) value { return dot })
		case *parse.WithNode:
			c.checkBranch(&n.BranchNode, dot, func(v value) value { return v })
		case *parse.RangeNode:
			c.checkBranch(&n.BranchNode, dot, func(all value) value {
				key, element := elementTypes(all)
				for i, declared := range n.Pipe.Decl {
					declaredValue := element
					if i == 0 && len(n.Pipe.Decl) == 2 {
						declaredValue = key
					}
					c.declare(declared.Ident[0], declaredValue)
				}
				return element
			})
		}
	}
}

// checkBranch checks both ways; inside gives the dot of the first. Variables that are declared there end with it.
func (c *checker) checkBranch(n *parse.BranchNode, dot value, dotInside func(value) value) {
	outerVariableCount := len(c.variables)
	c.checkNodes(n.List, dotInside(c.checkPipe(n.Pipe, dot)))
	c.checkNodes(n.ElseList, dot)
	c.variables = c.variables[:outerVariableCount]
}

func (c *checker) checkPipe(p *parse.PipeNode, dot value) (v value) {
	if p == nil {
		return v
	}
	for _, command := range p.Cmds {
		var args []value
		for _, arg := range command.Args[1:] {
			args = append(args, c.valueOf(arg, dot))
		}
		if function, isIdentifier := command.Args[0].(*parse.IdentifierNode); isIdentifier {
			v = c.callResult(function.Ident, command.Args[1:], args)
		} else {
			v = c.valueOf(command.Args[0], dot)
		}
	}
	for _, declared := range p.Decl {
		if p.IsAssign {
			c.findVariable(declared.Ident[0]).value = v
		} else {
			c.declare(declared.Ident[0], v)
		}
	}
	return v
}

func (c *checker) declare(name string, v value) { c.variables = append(c.variables, variable{name, v}) }

// findVariable returns the innermost variable of a name: the parser lets none pass that is not declared.
func (c *checker) findVariable(name string) *variable {
	index := len(c.variables) - 1
	for c.variables[index].name != name {
		index--
	}
	return &c.variables[index]
}

func (c *checker) valueOf(n parse.Node, dot value) value {
	switch n := n.(type) {
	case *parse.DotNode:
		return dot
	case *parse.FieldNode:
		return c.resolveMembers(n, dot, n.Ident)
	case *parse.VariableNode:
		return c.resolveMembers(n, c.findVariable(n.Ident[0]).value, n.Ident[1:])
	case *parse.ChainNode:
		return c.resolveMembers(n, c.valueOf(n.Node, dot), n.Field)
	case *parse.PipeNode:
		return c.checkPipe(n, dot)
	case *parse.IdentifierNode:
		return c.callResult(n.Ident, nil, nil)
	case *parse.StringNode:
		return value{typ: reflect.TypeFor[string]()}
	}
	return value{}
}

func (c *checker) callResult(functionName string, nodes []parse.Node, args []value) (v value) {
	switch functionName {
	case "dict":
		v.dictValues = map[string]value{}
		for n := 0; n+1 < len(args); n += 2 {
			if key, isText := nodes[n].(*parse.StringNode); isText {
				v.dictValues[key.Text] = args[n+1]
			}
		}
	case "index":
		v = args[0]
		for range args[1:] {
			_, v = elementTypes(v)
		}
	case "and", "or": // one of them
		v = args[0]
		for _, other := range args[1:] {
			if v.typ != other.typ || v.dictValues != nil || other.dictValues != nil {
				return value{}
			}
		}
	default:
		if f := reflect.TypeOf(c.funcs[functionName]); f != nil {
			v.typ = f.Out(0)
		}
	}
	return v
}

// elementTypes returns the keys and the elements of what range and index go through.
func elementTypes(container value) (key, element value) {
	if container.typ == nil {
		return key, element
	}
	t, isAddressable := indirect(container)
	switch t.Kind() {
	case reflect.Map:
		return value{typ: t.Key()}, value{typ: t.Elem()}
	case reflect.Slice, reflect.Array:
		return value{typ: reflect.TypeFor[int]()},
			value{typ: t.Elem(), isAddressable: isAddressable || t.Kind() == reflect.Slice}
	case reflect.Int:
		return value{typ: t}, value{typ: t}
	}
	return key, element
}

func indirect(v value) (reflect.Type, bool) {
	if v.typ.Kind() == reflect.Pointer {
		return v.typ.Elem(), true
	}
	return v.typ, v.isAddressable
}

// resolveMembers reads one member after the other.
func (c *checker) resolveMembers(node parse.Node, v value, names []string) value {
	for _, name := range names {
		member, exists := v.member(name)
		if !exists {
			location, text := (&parse.Tree{}).ErrorContext(node)
			c.problems = append(c.problems, fmt.Sprintf("%s: %s: there is no %s in %v", location, text, name, v))
			return value{}
		}
		v = member
	}
	return v
}

func (v value) member(name string) (memberValue value, isFound bool) {
	if v.dictValues != nil {
		memberValue, isFound = v.dictValues[name]
		return memberValue, isFound
	}
	if v.typ == nil {
		return memberValue, false
	}
	receiver, isAddressable := indirect(v)
	methods := v.typ
	if isAddressable {
		methods = reflect.PointerTo(receiver)
	}
	if m, exists := methods.MethodByName(name); exists {
		return value{typ: m.Type.Out(0)}, true
	}
	switch receiver.Kind() {
	case reflect.Struct:
		f, exists := receiver.FieldByName(name)
		// a field of an embedded struct may be behind a pointer
		return value{typ: f.Type, isAddressable: isAddressable || len(f.Index) > 1}, exists && f.IsExported()
	case reflect.Map:
		return value{typ: receiver.Elem()}, true
	}
	return memberValue, false
}

// String names the type.
func (v value) String() string {
	switch {
	case v.dictValues != nil:
		return fmt.Sprint(v.dictValues)
	case v.typ == nil:
		return "a value of unknown type"
	}
	return v.typ.String()
}
