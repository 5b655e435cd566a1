package lint

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// globalRandomness returns what the Go source uses of math/rand/v2 besides the seeded generator, and any use of
// math/rand or crypto/rand.
func globalRandomness(file string, text any) ([]string, error) {
	set := token.NewFileSet()
	parsed, err := parser.ParseFile(set, file, text, parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	allowed := []string{"PCG", "NewPCG"}
	name := "" // under which the file imports math/rand/v2
	var found []string
	for _, spec := range parsed.Imports {
		imported, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			return nil, err
		}
		switch imported {
		case "math/rand", "crypto/rand":
			found = append(found, "import of "+imported)
		case "math/rand/v2":
			name = "rand"
			if spec.Name != nil {
				name = spec.Name.Name
			}
			if name == "." {
				found = append(found, "import of math/rand/v2 without a name")
			}
		}
	}
	ast.Inspect(parsed, func(n ast.Node) bool {
		if s, ok := n.(*ast.SelectorExpr); ok && name != "" {
			if x, ok := s.X.(*ast.Ident); ok && x.Name == name && !slices.Contains(allowed, s.Sel.Name) {
				found = append(found, fmt.Sprintf("line %d: %s.%s", set.Position(s.Pos()).Line, name, s.Sel.Name))
			}
		}
		return true
	})
	return found, nil
}

// The workload draws from seeded generators only: the same seed gives the same data and inputs.
func TestNoGlobalRandomness(t *testing.T) {
	checked := 0
	for _, pattern := range []string{"tpcc/*.go", "tpcc/consistency/*.go"} {
		files, err := filepath.Glob(filepath.Join("..", "..", filepath.FromSlash(pattern)))
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			if strings.HasSuffix(file, "_test.go") {
				continue
			}
			checked++
			found, err := globalRandomness(file, nil)
			if err != nil {
				t.Fatal(err)
			}
			for _, f := range found {
				t.Errorf("%s: %s; draw from a seeded rand.PCG", file, f)
			}
		}
	}
	if checked == 0 {
		t.Error("there are no files to check")
	}
}

func TestGlobalRandomnessIsFound(t *testing.T) {
	for text, want := range map[string]string{
		"package x\nimport \"math/rand/v2\"\nvar n = rand.IntN(3)\n":              "line 3: rand.IntN",
		"package x\nimport r \"math/rand/v2\"\nvar n = r.New(r.NewPCG(1, 2))\n":   "line 3: r.New",
		"package x\nimport . \"math/rand/v2\"\nvar n = IntN(3)\n":                 "import of math/rand/v2 without a name",
		"package x\nimport \"math/rand\"\nvar n = rand.Int()\n":                   "import of math/rand",
		"package x\nimport \"crypto/rand\"\nvar n = rand.Reader\n":                "import of crypto/rand",
		"package x\nimport \"math/rand/v2\"\nvar n *rand.PCG = rand.NewPCG(1, 2)": "",
	} {
		found, err := globalRandomness("x.go", text)
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Join(found, "; "); got != want {
			t.Errorf("%s\ngot %q, want %q", text, got, want)
		}
	}
}
