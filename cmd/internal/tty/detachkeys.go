package tty

import (
	"fmt"
	"strings"

	"torchx/cmd/internal/ui"
)

// DefaultDetachKeys are docker's.
const DefaultDetachKeys = "ctrl-p,ctrl-q"

// ParseDetachKeys reads docker's format: keys separated by commas, each one a
// single character, DEL, or ctrl- and a letter or one of @ [ \ ] ^ _.
func ParseDetachKeys(text string) ([]byte, error) {
	if text == "" {
		text = DefaultDetachKeys
	}
	var keys []byte
	for key := range strings.SplitSeq(text, ",") {
		name, isCtrl := strings.CutPrefix(key, "ctrl-")
		switch {
		case len(key) == 1 && key[0] < 0x80:
			keys = append(keys, key[0])
		case key == "DEL":
			keys = append(keys, 0x7f)
		case isCtrl && len(name) == 1 && (name[0] >= 'a' && name[0] <= 'z' || strings.Contains(`@[\]^_`, name)):
			keys = append(keys, name[0]&0x1f)
		default:
			return nil, fmt.Errorf("unknown key %s: keys are separated by commas, each a character, DEL, or ctrl- and one of a-z @ [ \\ ] ^ _", ui.QuoteWord(key))
		}
	}
	return keys, nil
}

// KeyNames returns the detach keys as messages write them.
func KeyNames(text string) string {
	if text == "" {
		text = DefaultDetachKeys
	}
	return strings.ReplaceAll(text, ",", " ")
}

// DetachKeys finds a sequence of keys in what is typed.
type DetachKeys struct {
	Keys []byte
	Held int // how many of them were typed last, and not passed on
}

// Feed takes what was typed and returns what is to be passed on, and whether the
// keys were typed: then what comes after them is dropped.
func (d *DetachKeys) Feed(typed []byte) (pass []byte, found bool) {
	for _, c := range typed {
		for d.Held > 0 && c != d.Keys[d.Held] {
			pass = append(pass, d.fallBack()...)
		}
		if c != d.Keys[d.Held] {
			pass = append(pass, c)
			continue
		}
		if d.Held++; d.Held == len(d.Keys) {
			d.Held = 0
			return pass, true
		}
	}
	return pass, false
}

// fallBack lets go of as few keys as make the rest the beginning of the sequence.
func (d *DetachKeys) fallBack() []byte {
	held := d.Keys[:d.Held]
	for n := 1; n <= len(held); n++ {
		if strings.HasPrefix(string(d.Keys), string(held[n:])) {
			d.Held -= n
			return held[:n]
		}
	}
	return nil
}

// Flush returns the keys that are held back.
func (d *DetachKeys) Flush() []byte {
	held := d.Keys[:d.Held]
	d.Held = 0
	return held
}
