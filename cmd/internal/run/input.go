package run

import (
	"fmt"
	"io"
)

const (
	// maxRequest bounds the size of a request on stdin or in a file, in bytes.
	maxRequest = 64 << 20
	// maxValues bounds the values of a JSON text: two bytes may become a struct of 1 KB. A
	// plan of 10,000 replicas has a million.
	maxValues = 3_000_000
)

// readLimited reads JSON within maxRequest and maxValues.
func readLimited(r io.Reader) ([]byte, error) {
	data, err := io.ReadAll(io.LimitReader(r, maxRequest+1))
	switch {
	case err != nil:
		return nil, err
	case len(data) > maxRequest:
		return nil, fmt.Errorf("larger than %d MiB", maxRequest>>20)
	case countValues(data) > maxValues:
		return nil, fmt.Errorf("more than %d JSON values", maxValues)
	}
	return data, nil
}

// countValues estimates the number of values in a JSON text, valid or not.
func countValues(data []byte) (n int) {
	inString := false
	for i := 0; i < len(data); i++ {
		switch c := data[i]; {
		case inString && c == '\\':
			i++
		case c == '"':
			inString = !inString
		case inString:
		case c == ',' || c == '{' || c == '[':
			n++
		}
	}
	return n
}
