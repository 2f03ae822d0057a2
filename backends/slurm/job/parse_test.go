package job

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

func read(t *testing.T, name string) []byte {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// line returns what forms of all versions tell of a job.
func line(j *Job) string {
	at := func(t *time.Time) string {
		if t == nil {
			return "-"
		}
		return fmt.Sprint(t.Unix() - 1700000000)
	}
	return fmt.Sprintf("%d of %d: %s %s, nodes %v, reason %s|%s, exit %d:%d, restarts %d, array %s, times %s %s %s, limit %v, %s@%s %q",
		j.ID, j.Main(), j.Name, j.State(), j.Nodes, j.Reason, j.Detail, j.Exit.Code, j.Exit.Signal, j.Restarts, j.Array.Task,
		at(j.Submitted), at(j.Started), at(j.Ended), j.TimeLimit, j.User, j.Partition, j.WorkDir)
}

// sameJobs are the jobs in the files of each version.
var sameJobs = []string{
	`204 of 204: trainer-0 RUNNING, nodes [gpu-1], reason |, exit 0:0, restarts 0, array , times 0 10 3610, limit 1h0m0s, ann@gpu "/home/ann/a b"`,
	`205 of 204: trainer-1 RUNNING, nodes [gpu-2], reason |, exit 0:0, restarts 0, array , times 0 10 3610, limit 1h0m0s, ann@gpu "/home/ann/a b"`,
	`210 of 210: eval PENDING, nodes [], reason QOSMaxJobsPerUserLimit|, exit 0:0, restarts 0, array , times 5 - -, limit 0s, ann@gpu "/home/ann/a b"`,
	`211 of 211: wide PENDING, nodes [gpu-5 gpu-6], reason ReqNodeNotAvail|UnavailableNodes:gpu-[3-4], exit 0:0, restarts 0, array , times 6 9000 -, limit 30m0s, ann@gpu "/home/ann/a b"`,
	`220 of 220: bad FAILED, nodes [gpu-1 gpu-2 gpu-10], reason NonZeroExitCode|, exit 7:0, restarts 2, array , times 0 1 4, limit 1h0m0s, ann@gpu "/home/ann/a b"`,
	`221 of 221: big FAILED, nodes [gpu-2], reason OutOfMemory|, exit 0:9, restarts 0, array , times 0 1 4, limit 1h0m0s, ann@gpu "/home/ann/a b"`,
	`231 of 230: sweep RUNNING, nodes [gpu-1], reason |, exit 0:0, restarts 0, array 1, times 0 1 61, limit 1m0s, ann@gpu "/home/ann/a b"`,
	`230 of 230: sweep PENDING, nodes [], reason JobArrayTaskLimit|, exit 0:0, restarts 0, array 2-5%1, times 0 - -, limit 1m0s, ann@gpu "/home/ann/a b"`,
	`240 of 240: ending RUNNING, nodes [gpu-3], reason |, exit 0:0, restarts 0, array , times 0 1 4, limit 1h0m0s, ann@gpu "/home/ann/a b"`,
}

// TestForms: the output of each version and command tells the same of the same jobs.
func TestForms(t *testing.T) {
	t.Parallel()
	text := func(data []byte) ([]Job, error) { return ParseText(string(data), time.UTC) }
	listing := func(data []byte) ([]Job, error) { return ParseListing(string(data), time.UTC) }
	for name, parse := range map[string]func([]byte) ([]Job, error){
		"20.11/scontrol.txt": text, "20.11/scontrol-oneline.txt": text, "squeue.txt": listing,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			jobs, err := parse(read(t, name))
			if err != nil {
				t.Fatal(err)
			}
			compare(t, jobs, sameJobs)
			if got := jobs[0].Comment; got != `first, "quoted"` {
				t.Errorf("comment: got %q, want it whole", got)
			}
		})
	}
}

func compare(t *testing.T, jobs []Job, want []string) {
	t.Helper()
	if len(jobs) != len(want) {
		t.Fatalf("got %d jobs, want %d", len(jobs), len(want))
	}
	for i := range jobs {
		if got := line(&jobs[i]); got != want[i] {
			t.Errorf("got  %s\nwant %s", got, want[i])
		}
	}
}

// TestAccountingForms: sacct of each version tells the same of jobs that ended.
func TestAccountingForms(t *testing.T) {
	t.Parallel()
	for _, version := range []string{"20.11", "23.11", "24.11"} {
		t.Run(version, func(t *testing.T) {
			t.Parallel()
			jobs, err := ParseAccounting(read(t, version+"/sacct.json"))
			if err != nil {
				t.Fatal(err)
			}
			want := slices.Clone(sameJobs[:8])
			want[3] = strings.NewReplacer("[gpu-5 gpu-6]", "[]", "|UnavailableNodes:gpu-[3-4]", "|").Replace(want[3])
			if version != "24.11" { // older ones do not count restarts
				want[4] = strings.Replace(want[4], "restarts 2", "restarts 0", 1)
			}
			want = append(want, `250 of 250: stopped CANCELLED, nodes [gpu-1], reason |, exit 0:15, restarts 0, array , times 0 1 4, limit 1h0m0s, ann@gpu "/home/ann/a b"`)
			compare(t, jobs, want)
			if got := jobs[8].Why(); got != "cancelled by root" {
				t.Errorf("who: got %q, want cancelled by root", got)
			}
			if s := jobs[4].Steps; len(s) != 1 || s[0].Name != "batch" || s[0].Status != "FAILED" || s[0].Exit.Code != 7 || len(s[0].Nodes) != 3 {
				t.Errorf("steps: got %+v, want batch, which failed with 7 on 3 nodes", s)
			}
		})
	}
}

// TestOddReplies: no form of a field ends in an error, and other text does, in one line.
func TestOddReplies(t *testing.T) {
	t.Parallel()
	odd := []string{`null`, `5`, `-1`, `1e3`, `"x"`, `""`, `[]`, `[5]`, `["a",null]`, `{}`, `{"set":true,"infinite":true,"number":1}`, `{"set":true,"number":"7"}`, `{"list":5,"allocation":"x"}`, `true`, `99999999999999999999`, `4294967294`, `"\u0000"`}
	for _, field := range []string{"het", "array", "state", "time", "comment", "exit_code", "steps", "nodes", "kill_request_user", "reservation", "name", "restart_cnt"} {
		for _, value := range odd {
			data := fmt.Sprintf(`{"jobs":[null,7,{"job_id":3,%q:%s},{"job_id":4}]}`, field, value)
			jobs, err := ParseAccounting([]byte(data))
			if err != nil || len(jobs) == 0 || jobs[len(jobs)-1].ID != 4 {
				t.Fatalf("%s: got %+v, %v, want job 4", data, jobs, err)
			}
			jobs[0].Waits()
			jobs[0].Why()
		}
	}
	for data, want := range map[string]string{
		"": "not JSON", "squeue: error: x\n": "not JSON", `{"jobs":[`: "not JSON", `[]`: "not JSON", `{}`: "without jobs", `{"jobs":null,"errors":[{"error":"Invalid job id specified","description":""}]}`: "Invalid job id specified",
		`{"errors":[{"description":"Failed while looking for jobs","error_number":-1,"error":"Unspecified error"}],"jobs":[]}`: "Failed while looking",
	} {
		if jobs, err := ParseAccounting([]byte(data)); err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%q: got %v, %v, want an error with %q", data, jobs, err, want)
		}
	}
	if jobs, err := ParseText("No jobs in the system\n", time.UTC); err != nil || len(jobs) != 0 {
		t.Errorf("no jobs: got %v, %v, want none", jobs, err)
	}
	if _, err := ParseText("slurm_load_jobs error\nmore", time.UTC); err == nil || strings.Contains(err.Error(), "\n") {
		t.Errorf("no output of scontrol: got %v, want an error of one line", err)
	}
}

// TestOddListings: fields that a version lacks are missing, a comment may have several lines, and
// other text is an error of one line.
func TestOddListings(t *testing.T) {
	t.Parallel()
	field := func(pairs ...string) (text string) {
		for i := 0; i < len(pairs); i += 2 {
			text += pairs[i+1] + valueEnd + pairs[i] + fieldEnd
		}
		return text
	}
	jobs, err := ParseListing(field("JobId", "3", "Comment", "a\nb", "JobState", "NEW_STATE")+"\n"+field("JobId", "4", "Reason", "launch failed requeued held", "JobState", "PENDING")+"\n", time.UTC)
	if err != nil || len(jobs) != 2 || jobs[0].ID != 3 || jobs[0].Comment != "a\nb" || jobs[0].Status != "NEW_STATE" || jobs[1].ID != 4 || jobs[1].Exit.Known {
		t.Errorf("got %+v, %v, want jobs 3 and 4", jobs, err)
	}
	if got := jobs[1].Waits(); !strings.Contains(got, "could not be started, and it is held") {
		t.Errorf("a sentence as reason: got %q, want it in words", got)
	}
	if jobs, err := ParseListing("", time.UTC); err != nil || len(jobs) != 0 {
		t.Errorf("no jobs: got %v, %v, want none", jobs, err)
	}
	for _, text := range []string{"JOBID NAME\n17 x\n", field("JobName", "x"), field("JobId", "3") + "cut", `{"jobs": []}`} {
		if jobs, err := ParseListing(text, time.UTC); err == nil || strings.Contains(err.Error(), "\n") {
			t.Errorf("%q: got %v, %v, want an error of one line", text, jobs, err)
		}
	}
}

func TestExpandHosts(t *testing.T) {
	t.Parallel()
	for list, want := range map[string]string{
		"": "", "(null)": "", "None assigned": "", "n1": "n1", "n[1-3,07],login": "n1 n2 n3 n07 login", "r[1-2]n[08-10]x": "r1n08x r1n09x r1n10x r2n08x r2n09x r2n10x",
		"n[1-": "n[1-", "n[5-2]": "n[5-2]", "n]": "n]", "n[a]": "n[a]", "n[1-999999999]": "n[1-999999999]", "a,,b": "a b",
	} {
		if got := strings.Join(ExpandHosts(list), " "); got != want {
			t.Errorf("%s: got %q, want %q", list, got, want)
		}
	}
}

func TestParseID(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]int64{"17": 17, "17+1": 17, "17_3": 17, "": 0, "x": 0, "17+": 0, "17_x": 0, "+1": 0, "0": 0, "-3": 0, "99999999999999999999": 0, "17 ": 0, "1_2_3": 0} {
		if got, ok := ParseID(text); got != want || ok != (want != 0) {
			t.Errorf("%q: got %d, %v, want %d", text, got, ok, want)
		}
	}
}

func FuzzParseText(f *testing.F) {
	f.Add("JobId=1 JobName=a b UserId=x(1) Reason=None\n   JobState=RUNNING NodeList=n[1-2]")
	f.Add("JobId=1 Comment=a=b c WorkDir=/ TimeLimit=1-02:03:04")
	f.Fuzz(func(t *testing.T, text string) {
		jobs, _ := ParseText(text, time.UTC)
		for i := range jobs {
			for _, s := range []string{jobs[i].Waits(), jobs[i].Why()} {
				if strings.Contains(s, "\n") {
					t.Errorf("got %q, want one line", s)
				}
			}
		}
	})
}
