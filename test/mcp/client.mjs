// Runs an app through torchx mcp with the client of the TypeScript SDK, which checks each structured
// answer against the schema of its tool. $TORCHX is the program, $DIR the project.
import assert from "node:assert/strict";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";

const transport = new StdioClientTransport({ command: process.env.TORCHX, args: ["mcp"], cwd: process.env.DIR, env: process.env });
const client = new Client({ name: "test", version: "1" });
await client.connect(transport);

const { tools } = await client.listTools();
assert.ok(tools.length >= 14, `${tools.length} tools`);
assert.equal(tools.find((t) => t.name === "cancel").annotations.destructiveHint, true);

const call = async (name, args) => {
  const result = await client.callTool({ name, arguments: args });
  assert.ok(!result.isError, `${name}: ${JSON.stringify(result.content)}`);
  return result;
};
assert.ok((await call("list_components", {})).structuredContent.components.some((c) => c.name === "utils.sh"));
assert.equal((await call("explain_component", { component: "utils.sh" })).structuredContent.name, "utils.sh");
await call("dry_run", { component: "utils.echo", args: ["--msg", "hi"] });

const script = `echo first; echo '{"step": 1, "loss": 0.5}' >>$TORCHX_METRICS; exit 3`;
const run = await call("run", { component: "utils.sh", args: ["-c", script], tags: { from: "agent" } });
const { handle, app_id } = run.structuredContent;
const status = await call("wait", { handle, timeout_s: 60 });
assert.equal(status.structuredContent.state, "FAILED");
assert.match(status.content[0].text, /exit code 3[^]*first/);
assert.match((await call("logs", { handle })).content[0].text, /sh\/0 first/);
assert.equal((await call("metrics", { handles: [handle] })).structuredContent.series[0].last, 0.5);
assert.equal((await call("list_runs", { tag: ["from=agent"] })).structuredContent.runs.length, 1);
await call("compare", { handles: [handle, handle] });
await call("diff", { a: handle, b: handle });
await call("cancel", { handle });
assert.equal((await client.callTool({ name: "status", arguments: { handle: "nothing" } })).isError, true);

const { resources } = await client.listResources();
assert.ok(resources.some((r) => r.uri === `torchx://runs/${app_id}/log`));
const page = await client.readResource({ uri: "torchx://docs/language" });
assert.match(page.contents[0].text, /specs/);
assert.equal((await client.listResourceTemplates()).resourceTemplates.length, 4);
await client.close();
console.log("ok");
