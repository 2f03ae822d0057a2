package manifest

import (
	"math"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/utils/ptr"

	"torchx/runtime/backend"
	"torchx/runtime/spec"
)

// DefaultNamespace is the default of the option namespace.
const DefaultNamespace = "default"

// Defaults of TorchX. The reserves are subtracted from requests, so that a replica as large
// as a node fits on it.
const (
	defaultQueue        = "default"
	defaultReservedCPU  = 100  // thousandths of a CPU
	defaultReservedMem  = 1024 // MB
	defaultValidateSpec = true
)

var pullPolicies = []string{string(corev1.PullAlways), string(corev1.PullIfNotPresent), string(corev1.PullNever)}

// Options lists the -cfg keys. The first ten are those of TorchX, in which queue has no
// default.
func (p Planner) Options() []backend.Option {
	return []backend.Option{
		{Key: "queue", Risk: backend.Harmless, Type: backend.TypeStr, Default: defaultQueue, Help: "Volcano queue to submit to"},
		{Key: "namespace", Risk: backend.Elsewhere, Type: backend.TypeStr, Help: "namespace to run in; defaults to that of the context, or of this pod, else to " + DefaultNamespace},
		{Key: "service_account", Risk: backend.Elsewhere, Type: backend.TypeStr, Help: "service account of the pods"},
		{Key: "priority_class", Risk: backend.Harmless, Type: backend.TypeStr, Help: "priority class of the job (volcano) or of its pods (jobset, job)"},
		{Key: "validate_spec", Risk: backend.Harmless, Type: backend.TypeBool, Default: defaultValidateSpec, Help: "check the job on the cluster before anything is created"},
		{Key: "reserved_millicpu", Risk: backend.Harmless, Type: backend.TypeInt, Default: defaultReservedCPU, Help: "thousandths of a CPU to subtract from each replica's request; the limit is unchanged"},
		{Key: "reserved_memmb", Risk: backend.Harmless, Type: backend.TypeInt, Default: defaultReservedMem, Help: "MB of memory to subtract from each replica's request, the default at most a tenth of it; the limit is unchanged"},
		{Key: "image_repo", Risk: backend.Elsewhere, Type: backend.TypeStr, Help: "repository to push built images to, by the name that nodes pull it; required for a workspace"},
		{Key: "efa_device_count", Risk: backend.Harmless, Type: backend.TypeInt, Help: "EFA devices per replica, overrides the resource's; 0 removes them"},
		{Key: "quiet", Risk: backend.Harmless, Type: backend.TypeBool, Default: false, Help: "hide the output of image builds and pushes"},
		{Key: "gang", Risk: backend.Harmless, Type: backend.TypeStr, Default: string(FormAuto), Choices: []string{string(FormAuto), string(FormVolcano), string(FormJobSet), string(FormJob)}, Help: "what runs the replicas: volcano (all start together), jobset, or job (needs nothing installed); auto uses what the cluster has"},
		{Key: "context", Risk: backend.Elsewhere, Type: backend.TypeStr, Help: "kubeconfig context; defaults to the current one"},
		{Key: "kubeconfig", Risk: backend.Executes, Type: backend.TypeStr, Help: "kubeconfig file; defaults to $KUBECONFIG or ~/.kube/config"},
		{Key: "node_selector", Risk: backend.Harmless, Type: backend.TypeMap, Help: "labels that a node must have: K:V,K2:V2"},
		{Key: "tolerations", Risk: backend.Elsewhere, Type: backend.TypeList, Help: "taints to tolerate, as in kubectl taint: 'key=value:NoSchedule;key:NoExecute;key'"},
		{Key: "image_pull_secrets", Risk: backend.Elsewhere, Type: backend.TypeList, Help: "secrets to pull images with: a;b"},
		{Key: "image_pull_policy", Risk: backend.Harmless, Type: backend.TypeStr, Choices: pullPolicies, Help: "when nodes pull images; defaults to the cluster's rule"},
		{Key: "gpu_resource", Risk: backend.Harmless, Type: backend.TypeStr, Default: defaultGPU, Help: "name of the cluster's GPUs, such as amd.com/gpu; a resource's capability gpu_resource overrides it"},
		{Key: "env_from", Risk: backend.Exports, Type: backend.TypeList, Help: "environment from Secrets and ConfigMaps of the namespace: 'secret:NAME;configmap:NAME'; later ones override earlier ones, --env and the component override all"},
		{Key: "host_network", Risk: backend.Escalates, Type: backend.TypeBool, Default: false, Help: "run pods in their node's network"},
		{Key: "ttl_seconds", Risk: backend.Harmless, Protects: true, Type: backend.TypeInt, Help: "seconds from the end of the app until the cluster deletes its job; never by default"},
		{Key: "labels", Risk: backend.Escalates, Type: backend.TypeMap, Help: "labels of all objects and pods: K:V,K2:V2"},
		{Key: "annotations", Risk: backend.Escalates, Type: backend.TypeMap, Help: "annotations of all objects and pods: K:V,K2:V2"},
		{Key: "kueue_queue", Risk: backend.Harmless, Type: backend.TypeStr, Help: "Kueue queue to submit to; not with gang=volcano"},
		{Key: "kueue_priority", Risk: backend.Harmless, Type: backend.TypeStr, Help: "Kueue priority class of the app; needs kueue_queue"},
		{Key: "fail_fast", Risk: backend.Harmless, Protects: true, Type: backend.TypeBool, Default: true, Help: "stop the other replicas when one has failed for good"},
		{Key: "output", Risk: backend.Elsewhere, Type: backend.TypeStr, Help: "volume for the outputs of apps, pvc:CLAIM[/FOLDER]: each app gets a folder in it, $TORCHX_OUTPUT; without it the variable is not set"},
		{Key: "archive", Risk: backend.Harmless, Type: backend.TypeBool, Default: false, Help: "keep all logs and the result in TORCHX_HOME: a background process follows the app to its end"},
	}
}

// Options holds the resolved -cfg values; "" and nil mean "not given".
type Options struct {
	Namespace, Queue          string
	kueueQueue, kueuePriority string
	Validate, Quiet           bool
	imageRepo                 string
	gang                      Form
	failFast                  bool
	ttl                       *int32
	labels, annotations       map[string]string
	podOptions
}

// podOptions are the options that change only pods.
type podOptions struct {
	serviceAccount, priorityClass string
	reservedCPU, reservedMem      int
	efa                           *int
	nodeSelector                  map[string]string
	tolerations                   []corev1.Toleration
	pullSecrets                   []string
	pullPolicy                    string
	hostNetwork                   bool
	output                        Volume
	gpu                           string // name of GPUs, unless a role's resource names them
	envFrom                       []corev1.EnvFromSource
}

// Form returns the form of apps on a cluster with the installed forms, if their retry policies
// require no other.
func (o Options) Form(installed []Form) Form { return choose(&spec.App{}, o, installed) }

// Kueue returns the Kueue queue and the priority class in it, "" if there is none.
func (o Options) Kueue() (queue, priority string) { return o.kueueQueue, o.kueuePriority }

// ReadOptions reads the values of Planner.Options. Errors: ErrInvalidOption.
func ReadOptions(cfg backend.Config) (Options, error) {
	o := Options{
		gang: FormAuto, Namespace: DefaultNamespace, Queue: defaultQueue, failFast: true, Validate: defaultValidateSpec,
		podOptions: podOptions{reservedCPU: defaultReservedCPU, reservedMem: defaultReservedMem, gpu: defaultGPU},
	}
	set(&o.Namespace, cfg["namespace"])
	set(&o.Queue, cfg["queue"])
	set(&o.serviceAccount, cfg["service_account"])
	set(&o.priorityClass, cfg["priority_class"])
	set(&o.reservedCPU, cfg["reserved_millicpu"])
	set(&o.reservedMem, cfg["reserved_memmb"])
	set(&o.imageRepo, cfg["image_repo"])
	set(&o.nodeSelector, cfg["node_selector"])
	set(&o.labels, cfg["labels"])
	set(&o.annotations, cfg["annotations"])
	set(&o.pullSecrets, cfg["image_pull_secrets"])
	set(&o.pullPolicy, cfg["image_pull_policy"])
	set(&o.hostNetwork, cfg["host_network"])
	set(&o.gpu, cfg["gpu_resource"])
	set(&o.kueueQueue, cfg["kueue_queue"])
	set(&o.kueuePriority, cfg["kueue_priority"])
	set(&o.failFast, cfg["fail_fast"])
	set(&o.Validate, cfg["validate_spec"])
	set(&o.Quiet, cfg["quiet"])
	if text, _ := cfg["output"].(string); text != "" {
		var err error
		if o.output, err = parseVolume(text); err != nil {
			return o, err
		}
	}
	if v, ok := cfg["gang"].(string); ok {
		o.gang = Form(v)
	}
	if v, ok := cfg["efa_device_count"].(int); ok {
		o.efa = &v
	}
	if v, ok := cfg["ttl_seconds"].(int); ok {
		o.ttl = new(int32(min(max(v, -1), math.MaxInt32)))
	}
	if err := o.check(); err != nil {
		return o, err
	}
	sources, _ := cfg["env_from"].([]string)
	for _, text := range sources {
		source, err := parseEnvSource(text)
		if err != nil {
			return o, err
		}
		o.envFrom = append(o.envFrom, source)
	}
	texts, _ := cfg["tolerations"].([]string)
	for _, text := range texts {
		toleration, err := parseToleration(text)
		if err != nil {
			return o, err
		}
		o.tolerations = append(o.tolerations, toleration)
	}
	return o, nil
}

// set stores a value of the right type; nil (None) leaves the default.
func set[T any](to *T, value any) {
	if v, ok := value.(T); ok {
		*to = v
	}
}

// check refuses values that the cluster would refuse later, with a longer message.
func (o *Options) check() error {
	bad := func(key string, value any, why string) error {
		return backend.Errorf(backend.ErrInvalidOption, "%s=%v: %s", key, value, why)
	}
	if problems := validation.IsDNS1123Label(o.Namespace); len(problems) > 0 {
		return bad("namespace", o.Namespace, problems[0])
	}
	for key, n := range map[string]int{"reserved_millicpu": o.reservedCPU, "reserved_memmb": o.reservedMem, "efa_device_count": ptr.Deref(o.efa, 0), "ttl_seconds": int(ptr.Deref(o.ttl, 0))} {
		if n < 0 {
			return bad(key, n, "must not be negative")
		}
	}
	if problem := checkResourceName(o.gpuName(spec.Resource{})); problem != "" {
		return bad("gpu_resource", o.gpu, problem)
	}
	if o.gang == FormVolcano && o.kueueQueue != "" {
		return bad("kueue_queue", o.kueueQueue,
			"Kueue does not manage Volcano jobs: use gang=jobset or gang=job")
	}
	if o.kueuePriority != "" && o.kueueQueue == "" {
		return bad("kueue_priority", o.kueuePriority,
			"has no effect without kueue_queue: add kueue_queue=NAME")
	}
	for key, name := range map[string]string{"kueue_queue": o.kueueQueue, "kueue_priority": o.kueuePriority} {
		if problems := validation.IsValidLabelValue(name); len(problems) > 0 {
			return bad(key, name, problems[0])
		}
	}
	for key, labels := range map[string]map[string]string{"labels": o.labels, "node_selector": o.nodeSelector} {
		for k, v := range labels {
			if problems := append(validation.IsQualifiedName(k), validation.IsValidLabelValue(v)...); len(problems) > 0 {
				return bad(key, k+":"+v, problems[0])
			}
		}
	}
	for k := range o.annotations {
		if problems := validation.IsQualifiedName(strings.ToLower(k)); len(problems) > 0 {
			return bad("annotations", k, problems[0])
		}
	}
	return nil
}

// parseToleration reads key[=value][:effect], the syntax of kubectl taint. Without a value
// (or effect) it tolerates every value (or effect).
func parseToleration(text string) (corev1.Toleration, error) {
	rest, effect, _ := strings.Cut(strings.TrimSpace(text), ":")
	key, val, hasValue := strings.Cut(rest, "=")
	t := corev1.Toleration{Key: key, Operator: corev1.TolerationOpExists, Effect: corev1.TaintEffect(effect)}
	if hasValue {
		t.Operator, t.Value = corev1.TolerationOpEqual, val
	}
	switch t.Effect {
	case "", corev1.TaintEffectNoSchedule, corev1.TaintEffectPreferNoSchedule, corev1.TaintEffectNoExecute:
	default:
		return t, backend.Errorf(backend.ErrInvalidOption,
			"tolerations=%s: the effect must be NoSchedule, PreferNoSchedule or NoExecute", text)
	}
	if problems := validation.IsQualifiedName(key); len(problems) > 0 {
		return t, backend.Errorf(backend.ErrInvalidOption, "tolerations=%s: %s", text, problems[0])
	}
	return t, nil
}
