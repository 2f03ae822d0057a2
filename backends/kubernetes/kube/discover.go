package kube

import (
	"context"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/version"
)

// Groups are the API groups that a server has and their versions.
type Groups map[string][]string

// Groups asks the server what is installed: one request. Errors: those of Explain.
func (c *Client) Groups(ctx context.Context) (Groups, error) {
	list := metav1.APIGroupList{}
	if err := c.GetPath(ctx, "/apis", &list); err != nil {
		return nil, err
	}
	groups := Groups{}
	for _, g := range list.Groups {
		for _, v := range g.Versions {
			groups[g.Name] = append(groups[g.Name], v.Version)
		}
	}
	return groups, nil
}

// Has reports whether the group of a resource is there in its version.
func (g Groups) Has(r Resource) bool {
	return r.Group == "" || slices.Contains(g[r.Group], r.Version)
}

// Version asks the server for its version. Errors: those of Explain.
func (c *Client) Version(ctx context.Context) (version.Info, error) {
	info := version.Info{}
	err := c.GetPath(ctx, "/version", &info)
	return info, err
}
