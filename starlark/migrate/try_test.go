package migrate

import (
	"fmt"
	"os"
	"testing"
)

func TestTry(t *testing.T) {
	f := os.Getenv("TRY")
	src, _ := os.ReadFile(f)
	r, err := Port(t.Context(), "python3", f, src)
	if err != nil {
		t.Fatal(err)
	}
	fmt.Println(r.Text)
	for _, p := range r.Notes {
		fmt.Println("note:", p)
	}
	for _, p := range r.Problems {
		fmt.Println("PROBLEM:", p)
	}
}
