package main

import (
	"fmt"
	"strings"
)

// defaultDetachKeys are docker's.
const defaultDetachKeys = "ctrl-p,ctrl-q"

// parseDetachKeys reads docker's format: keys separated by commas, each one a
// single character, DEL, or ctrl- and a letter or one of @ [ \ ] ^ _.
func parseDetachKeys(text string) ([]byte, error) {
	if text == "" {
		text = defaultDetachKeys
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
			return nil, fmt.Errorf("unknown key %s: keys are separated by commas, each a character, DEL, or ctrl- and one of a-z @ [ \\ ] ^ _", quoteWord(key))
		}
	}
	return keys, nil
}

// keyName is how the detach keys are spoken of.
func keyNames(text string) string {
	if text == "" {
		text = defaultDetachKeys
	}
	return strings.ReplaceAll(text, ",", " ")
}

// detachKeys finds a sequence of keys in what is typed.
type detachKeys struct {
	keys []byte
	held int // how many of them were typed last, and not passed on
}

// feed takes what was typed and returns what is to be passed on, and whether the
// keys were typed: then what comes after them is dropped.
func (d *detachKeys) feed(typed []byte) (pass []byte, found bool) {
	for _, c := range typed {
		for d.held > 0 && c != d.keys[d.held] {
			pass = append(pass, d.fallBack()...)
		}
		if c != d.keys[d.held] {
			pass = append(pass, c)
			continue
		}
		if d.held++; d.held == len(d.keys) {
			d.held = 0
			return pass, true
		}
	}
	return pass, false
}

// fallBack lets go of as few keys as make the rest the beginning of the sequence.
func (d *detachKeys) fallBack() []byte {
	held := d.keys[:d.held]
	for n := 1; n <= len(held); n++ {
		if strings.HasPrefix(string(d.keys), string(held[n:])) {
			d.held -= n
			return held[:n]
		}
	}
	return nil
}

// flush returns the keys that are held back.
func (d *detachKeys) flush() []byte {
	held := d.keys[:d.held]
	d.held = 0
	return held
}
