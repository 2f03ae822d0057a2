package clustertest

import (
	"context"
	"fmt"
	"path/filepath"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/tools/clientcmd/api"
)

// User makes an account that may do what rules say, as the rules of a Role in YAML's
// flow form ("" is nothing), in one namespace, and returns its kubeconfig's file.
func (c *Cluster) User(t testing.TB, namespace, rules string) string {
	t.Helper()
	c.Create(t, namespace, fmt.Sprintf(`{apiVersion: v1, kind: ServiceAccount, metadata: {name: user}}
---
{apiVersion: rbac.authorization.k8s.io/v1, kind: Role, metadata: {name: user}, rules: [%s]}
---
{apiVersion: rbac.authorization.k8s.io/v1, kind: RoleBinding, metadata: {name: user},
 roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: user}, subjects: [{kind: ServiceAccount, name: user}]}`, rules))
	ctx, cancel := context.WithTimeout(context.Background(), waitTime)
	defer cancel()
	asked := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": map[string]any{}}}
	asked.SetName("user")
	answer, err := c.Client.Resource(serviceAccounts).Namespace(namespace).Create(ctx, asked, metav1.CreateOptions{}, "token")
	if err != nil {
		t.Fatal(err)
	}
	token, _, _ := unstructured.NestedString(answer.Object, "status", "token")
	return c.Write(t, func(_ *api.Cluster, user *api.AuthInfo, context *api.Context) {
		*user = api.AuthInfo{Token: token}
		context.Namespace = namespace
	})
}

// Write writes a kubeconfig that differs from the cluster's own, and returns its file.
func (c *Cluster) Write(t testing.TB, change func(*api.Cluster, *api.AuthInfo, *api.Context)) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "kubeconfig")
	if err := c.write(file, change); err != nil {
		t.Fatal(err)
	}
	return file
}

func (c *Cluster) write(file string, change func(*api.Cluster, *api.AuthInfo, *api.Context)) error {
	all, err := clientcmd.LoadFromFile(c.Kubeconfig)
	if err != nil {
		return err
	}
	here := all.Contexts[all.CurrentContext]
	change(all.Clusters[here.Cluster], all.AuthInfos[here.AuthInfo], here)
	return clientcmd.WriteToFile(*all, file)
}
