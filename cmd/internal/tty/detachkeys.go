package tty

import (
	"fmt"
	"strings"

	"torchx/cmd/internal/ui"
)

// DefaultDetachKeys are docker's detach keys.
const DefaultDetachKeys = "ctrl-p,ctrl-q"

// ParseDetachKeys parses docker's notation: keys separated by commas, each a single
// character, DEL, or ctrl- with a letter or one of @ [ \ ] ^ _.
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
			return nil, fmt.Errorf("unknown key %s: want keys separated by commas, each a character, DEL, or ctrl- with one of a-z @ [ \\ ] ^ _", ui.QuoteWord(key))
		}
	}
	return keys, nil
}

// KeyNames returns the detach keys for messages.
func KeyNames(text string) string {
	if text == "" {
		text = DefaultDetachKeys
	}
	return strings.ReplaceAll(text, ",", " ")
}

// DetachKeys finds the detach keys in typed input.
type DetachKeys struct {
	Keys []byte
	Held int // how many of them are held back as the possible start of the sequence
}

// Feed returns the part of typed to forward, and whether it contains the detach keys. Input
// after the keys is dropped.
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

// fallBack releases as few held keys as possible, so that the others are a prefix of the
// sequence.
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

// Flush returns and releases the held keys.
func (d *DetachKeys) Flush() []byte {
	held := d.Keys[:d.Held]
	d.Held = 0
	return held
}
