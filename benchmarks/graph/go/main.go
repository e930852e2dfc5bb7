// Where Go's type checker says that calls lead.
//
//	go run main.go ROOT > found.json
//
// Each item is [path, line where the callee begins, line of the called name, name, places]. A place is [path, line,
// kind] of a declaration below the root; no place means one elsewhere, null that nothing is known. A method of an
// interface below the root stands for each method that implements it. Packages of other modules are left empty.
package main

import (
	"encoding/json"
	"go/ast"
	"go/build"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"os"
	"path/filepath"
	"regexp"
	"sort"
	"strings"
)

type checker struct {
	root     string
	files    *token.FileSet
	modules  map[string]string // module path to folder
	known    map[string]*types.Package
	standard types.Importer
	named    []*types.Named
	uses     map[*ast.Ident]types.Object
	parsed   []*ast.File
}

func (c *checker) Import(path string) (*types.Package, error) {
	if known, ok := c.known[path]; ok {
		return known, nil
	}
	for module, folder := range c.modules {
		if path == module || strings.HasPrefix(path, module+"/") {
			return c.check(path, filepath.Join(folder, strings.TrimPrefix(path, module)), false), nil
		}
	}
	if !strings.Contains(strings.Split(path, "/")[0], ".") {
		if found, err := c.standard.Import(path); err == nil {
			c.known[path] = found
			return found, nil
		}
	}
	empty := types.NewPackage(path, filepath.Base(path))
	empty.MarkComplete()
	c.known[path] = empty
	return empty, nil
}

// check reads the package in a folder; with tests, its test files too, those of `_test` packages by themselves.
func (c *checker) check(path, folder string, tests bool) *types.Package {
	byName := map[string][]*ast.File{}
	entries, _ := os.ReadDir(folder)
	for _, entry := range entries {
		name := entry.Name()
		isTest := strings.HasSuffix(name, "_test.go")
		if match, _ := build.Default.MatchFile(folder, name); !match || !strings.HasSuffix(name, ".go") || (isTest && !tests) {
			continue
		}
		file, err := parser.ParseFile(c.files, filepath.Join(folder, name), nil, parser.SkipObjectResolution)
		if err == nil {
			byName[file.Name.Name] = append(byName[file.Name.Name], file)
		}
	}
	var own *types.Package
	names := make([]string, 0)
	for name := range byName {
		names = append(names, name)
	}
	sort.Strings(names)
	for _, name := range names {
		info := &types.Info{Uses: c.uses, Defs: map[*ast.Ident]types.Object{}}
		config := types.Config{Importer: c, Error: func(error) {}, FakeImportC: true}
		checked, _ := config.Check(path, c.files, byName[name], info)
		if !strings.HasSuffix(name, "_test") {
			own = checked
			if !tests {
				c.known[path] = checked
			}
		}
		if tests {
			c.parsed = append(c.parsed, byName[name]...)
			for _, object := range info.Defs {
				if declared, ok := object.(*types.TypeName); ok {
					if named, ok := declared.Type().(*types.Named); ok {
						c.named = append(c.named, named)
					}
				}
			}
		}
	}
	if own == nil {
		own = types.NewPackage(path, filepath.Base(path))
	}
	return own
}

func (c *checker) place(object types.Object, kind string) []any {
	at := c.files.Position(object.Pos())
	if relative, err := filepath.Rel(c.root, at.Filename); err == nil && at.IsValid() && !strings.HasPrefix(relative, "..") {
		return []any{relative, at.Line, kind}
	}
	return nil
}

func (c *checker) places(function *types.Func) []any {
	found := []any{}
	if place := c.place(function.Origin(), "Func"); place != nil {
		found = append(found, place)
	}
	signature := function.Type().(*types.Signature)
	if len(found) == 0 || signature.Recv() == nil || !types.IsInterface(signature.Recv().Type()) {
		return found
	}
	asked, _ := signature.Recv().Type().Underlying().(*types.Interface)
	for _, named := range c.named {
		if asked == nil || types.IsInterface(named) || named.TypeParams().Len() > 0 || !types.Implements(types.NewPointer(named), asked) {
			continue
		}
		object, _, _ := types.LookupFieldOrMethod(types.NewPointer(named), true, function.Pkg(), function.Name())
		if method, ok := object.(*types.Func); ok {
			if place := c.place(method.Origin(), "Implementation"); place != nil {
				found = append(found, place)
			}
		}
	}
	return found
}

func main() {
	root, _ := filepath.Abs(os.Args[1])
	files := token.NewFileSet()
	c := &checker{root: root, files: files, modules: map[string]string{}, known: map[string]*types.Package{},
		standard: importer.ForCompiler(files, "source", nil), uses: map[*ast.Ident]types.Object{}}
	folders := []string{}
	filepath.WalkDir(root, func(path string, entry os.DirEntry, err error) error {
		name := entry.Name()
		if entry.IsDir() && path != root && (strings.HasPrefix(name, ".") || name == "vendor" || name == "testdata") {
			return filepath.SkipDir
		}
		if entry.IsDir() {
			folders = append(folders, path)
		}
		if name == "go.mod" {
			text, _ := os.ReadFile(path)
			if found := regexp.MustCompile(`(?m)^module\s+"?([^\s"]+)`).FindSubmatch(text); found != nil {
				c.modules[string(found[1])] = filepath.Dir(path)
			}
		}
		return nil
	})
	for _, folder := range folders {
		path, longest := filepath.Base(folder), -1
		for module, at := range c.modules {
			if relative, err := filepath.Rel(at, folder); err == nil && !strings.HasPrefix(relative, "..") && len(at) > longest {
				path, longest = strings.TrimSuffix(module+"/"+filepath.ToSlash(relative), "/."), len(at)
			}
		}
		c.check(path, folder, true)
	}
	found := []any{}
	for _, file := range c.parsed {
		ast.Inspect(file, func(node ast.Node) bool {
			call, ok := node.(*ast.CallExpr)
			if !ok {
				return true
			}
			callee := ast.Unparen(call.Fun)
			switch generic := callee.(type) {
			case *ast.IndexExpr:
				callee = generic.X
			case *ast.IndexListExpr:
				callee = generic.X
			}
			name, _ := callee.(*ast.Ident)
			if selector, ok := callee.(*ast.SelectorExpr); ok {
				name = selector.Sel
			}
			if name == nil {
				return true
			}
			var places any
			switch object := c.uses[name].(type) {
			case *types.Func:
				places = c.places(object)
			case *types.Builtin:
				places = []any{}
			case *types.TypeName:
				return true // a conversion
			}
			at := files.Position(name.Pos())
			relative, _ := filepath.Rel(root, at.Filename)
			found = append(found, []any{relative, files.Position(call.Fun.Pos()).Line, at.Line, name.Name, places})
			return true
		})
	}
	json.NewEncoder(os.Stdout).Encode(found)
}
