package clustertest

import (
	"context"
	"fmt"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/tools/clientcmd/api"
)

// User creates a service account with the rules of a Role (in YAML's flow style, "" for none)
// in a namespace, and returns its kubeconfig file.
func (c *Cluster) User(t testing.TB, namespace, rules string) string {
	t.Helper()
	c.Create(t, namespace, fmt.Sprintf(`{apiVersion: rbac.authorization.k8s.io/v1, kind: Role, metadata: {name: user}, rules: [%s]}`, rules))
	kubeconfig := c.Account(t, namespace)
	c.Bind(t, namespace, "Role", "user")
	return kubeconfig
}

// Account creates a service account without rights in a namespace, and returns its kubeconfig file.
func (c *Cluster) Account(t testing.TB, namespace string) string {
	t.Helper()
	token := c.Token(t, namespace)
	return c.Write(t, func(_ *api.Cluster, user *api.AuthInfo, context *api.Context) {
		*user = api.AuthInfo{Token: token}
		context.Namespace = namespace
	})
}

// Token creates the account of a namespace, without rights, and returns its token.
func (c *Cluster) Token(t testing.TB, namespace string) string {
	t.Helper()
	c.Create(t, namespace, `{apiVersion: v1, kind: ServiceAccount, metadata: {name: user}}`)
	ctx, cancel := limited()
	defer cancel()
	request := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": map[string]any{}}}
	request.SetName("user")
	response, err := c.Of(namespace, "v1", "ServiceAccount").Create(ctx, request,
		metav1.CreateOptions{}, "token")
	if err != nil {
		t.Fatal(err)
	}
	token, _, _ := unstructured.NestedString(response.Object, "status", "token")
	return token
}

// Bind gives the account of a namespace a Role or a ClusterRole in it, and waits until it applies.
func (c *Cluster) Bind(t testing.TB, namespace, kind, role string) {
	t.Helper()
	c.Create(t, namespace, fmt.Sprintf(`{apiVersion: rbac.authorization.k8s.io/v1, kind: RoleBinding, metadata: {generateName: user-},
 roleRef: {apiGroup: rbac.authorization.k8s.io, kind: %s, name: %s}, subjects: [{kind: ServiceAccount, name: user}]}`, kind, role))
	c.awaitRights(t, namespace, kind, role)
}

// awaitRights waits until the API server's authorizer has seen the binding of a role: it reads both
// behind the store.
func (c *Cluster) awaitRights(t testing.TB, namespace, kind, role string) {
	t.Helper()
	c.Eventually(t, "the rights of "+role, func(ctx context.Context) (bool, error) {
		in := namespace
		if kind == "ClusterRole" {
			in = ""
		}
		bound, err := c.Of(in, "rbac.authorization.k8s.io/v1", kind).Get(ctx, role,
			metav1.GetOptions{})
		if err != nil {
			return false, err
		}
		rules, _, _ := unstructured.NestedSlice(bound.Object, "rules")
		if len(rules) == 0 {
			return true, nil
		}
		rule, _ := rules[0].(map[string]any)
		first := func(key string) any {
			all, _, _ := unstructured.NestedStringSlice(rule, key)
			return append(all, "")[0]
		}
		resource, sub, _ := strings.Cut(first("resources").(string), "/")
		review := &unstructured.Unstructured{Object: map[string]any{
			"apiVersion": "authorization.k8s.io/v1", "kind": "SubjectAccessReview",
			"spec": map[string]any{
				"user": "system:serviceaccount:" + namespace + ":user",
				"resourceAttributes": map[string]any{
					"namespace": namespace, "verb": first("verbs"), "group": first("apiGroups"), "resource": resource,
					"subresource": sub, "name": first("resourceNames"),
				},
			},
		}}
		answer, err := c.Of("", "authorization.k8s.io/v1", "SubjectAccessReview").Create(ctx,
			review, metav1.CreateOptions{})
		if err != nil {
			return false, err
		}
		allowed, _, _ := unstructured.NestedBool(answer.Object, "status", "allowed")
		return allowed, nil
	})
}

// BindEverywhere gives the account of a namespace a ClusterRole in all namespaces.
func (c *Cluster) BindEverywhere(t testing.TB, namespace, role string) {
	t.Helper()
	c.Create(t, "", fmt.Sprintf(`{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRoleBinding, metadata: {generateName: user-},
 roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: %s}, subjects: [{kind: ServiceAccount, name: user, namespace: %s}]}`, role, namespace))
}
