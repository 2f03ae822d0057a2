package mcp

import (
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"strings"

	"torchx/docs"
)

// Prefixes of URIs.
const (
	docsURI = "torchx://docs/"
	runsURI = "torchx://runs/"
)

// maxListed bounds the runs of resources/list: the newest.
const maxListed = "20"

// resource is a document as resources/list has it.
type resource struct {
	URI   string `json:"uri"`
	Name  string `json:"name"`
	Title string `json:"title"`
	Type  string `json:"mimeType"`
}

// templates are the URIs of runs, which are too many to list.
var templates = []map[string]any{
	{"uriTemplate": docsURI + "{topic}", "name": "docs", "title": "A page of the documentation; language is the component language", "mimeType": "text/markdown"},
	{"uriTemplate": runsURI + "{app_id}", "name": "run", "title": "What was submitted, as torchx describe --json", "mimeType": "application/json"},
	{"uriTemplate": runsURI + "{app_id}/status", "name": "status", "title": "State of a run and its replicas, as torchx status --json", "mimeType": "application/json"},
	{"uriTemplate": runsURI + "{app_id}/log", "name": "log", "title": "The last lines of a run", "mimeType": "text/plain"},
}

func (s *server) listResources(ctx context.Context) (any, error) {
	topics, err := docs.Topics()
	if err != nil {
		return nil, err
	}
	all := []resource{}
	for _, t := range topics {
		all = append(all, resource{docsURI + t.Name, t.Name, t.Title, "text/markdown"})
	}
	o, err := s.run(ctx, "list", "--json", "--limit="+maxListed)
	if err == nil {
		err = o.err()
	}
	if err != nil {
		return nil, err
	}
	var runs []struct {
		AppID  string `json:"app_id"`
		Handle string
		State  string
	}
	if err := json.Unmarshal(o.out, &runs); err != nil {
		return nil, fmt.Errorf("read the list of runs: %w", err)
	}
	for _, r := range runs {
		id := runsURI + url.PathEscape(r.AppID)
		all = append(all,
			resource{id, r.AppID, r.Handle + ", " + r.State, "application/json"},
			resource{id + "/log", r.AppID + ".log", "log of " + r.Handle, "text/plain"})
	}
	return map[string]any{"resources": all}, nil
}

func (s *server) readResource(ctx context.Context, params json.RawMessage) (any, error) {
	var p struct {
		URI string `json:"uri"`
	}
	if err := json.Unmarshal(params, &p); err != nil {
		return nil, failure(codeParams, "resources/read: %v", err)
	}
	kind, text, err := s.document(ctx, p.URI)
	if err != nil {
		return nil, failure(codeNoContent, "%s: %v", p.URI, err)
	}
	return map[string]any{"contents": []any{map[string]any{"uri": p.URI, "mimeType": kind, "text": text}}}, nil
}

// document returns a document and its type.
func (s *server) document(ctx context.Context, uri string) (kind, content string, err error) {
	if topic, ok := strings.CutPrefix(uri, docsURI); ok && topic != "" {
		a, err := readDocs(ctx, s, nil, input{"topic": topic})
		if err != nil {
			return "", "", err
		}
		return "text/markdown", a.text, nil
	}
	rest, ok := strings.CutPrefix(uri, runsURI)
	id, part, _ := strings.Cut(rest, "/")
	id, err = url.PathUnescape(id)
	if !ok || err != nil || id == "" {
		return "", "", fmt.Errorf("no such resource: it is %s{topic} or %s{app_id}", docsURI, runsURI)
	}
	t := &tool{fields: []field{handle}, schema: "status"}
	switch part {
	case "":
		kind, t.words = "application/json", []string{"describe", "--json"}
	case "status":
		kind, t.words = "application/json", []string{"status", "--json"}
	case "log":
		kind, t.words, t.call = "text/plain", []string{"log", "--json"}, logsOf
	default:
		return "", "", fmt.Errorf("a run has no %q: it has status and log", part)
	}
	a, err := t.answer(ctx, s, input{"handle": id})
	if err != nil {
		return "", "", err
	}
	return kind, a.text, nil
}
