// The official clients of the Model Context Protocol against `ridgepoint mcp` and the daemon's /mcp.
//
// `cargo xtask test` sets the environment: RIDGEPOINT_BIN, RIDGEPOINT_NODE_MODULES.
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { right, wrong } from './questions.mjs';
import { exchange, load, program, startDaemon } from './servers.mjs';

const [older, olderStdio, olderHttp, newer, newerStdio] = await Promise.all(
  ['@modelcontextprotocol/sdk/client/index.js', '@modelcontextprotocol/sdk/client/stdio.js', '@modelcontextprotocol/sdk/client/streamableHttp.js', '@modelcontextprotocol/client', '@modelcontextprotocol/client/stdio'].map(load),
);
const me = { name: 'ridgepoint-tests', version: '1' };
let daemon;

before(async () => (daemon = await startDaemon()));
after(() => daemon?.stop());

const pinned = { versionNegotiation: { mode: { pin: '2026-07-28' } } };
const clients = [
  { name: 'client of 2025-11-25', client: () => new older.Client(me), stdio: olderStdio.StdioClientTransport, http: olderHttp.StreamableHTTPClientTransport, sessions: true },
  { name: 'client of 2026-07-28', client: () => new newer.Client(me, pinned), stdio: newerStdio.StdioClientTransport, http: newer.StreamableHTTPClientTransport, sessions: false },
];
const transports = {
  stdio: ({ stdio: Transport }) => new Transport({ command: program, args: ['mcp', '--page', 'https://page.test/'] }),
  http: ({ http: Transport }, token = daemon.token) => new Transport(new URL('mcp', daemon.url), { requestInit: { headers: { Authorization: `Bearer ${token}` } } }),
};

for (const kind of clients) {
  for (const [transport, open] of Object.entries(transports)) {
    test(`${kind.name} over ${transport}`, async (t) => {
      const client = kind.client();
      await client.connect(open(kind));
      t.after(() => client.close());
      const call = (name, given, options) => (kind.sessions ? client.callTool({ name, arguments: given }, undefined, options) : client.callTool({ name, arguments: given }, options));
      const page = transport === 'stdio' ? 'https://page.test/' : daemon.url;

      await t.test('it lists the tools with their schemas', async () => {
        const { tools } = await client.listTools();
        assert.deepEqual(tools.map((tool) => tool.name), ['resolve_model', 'list_devices', 'estimate', 'recommend', 'check', 'compare', 'fit_plan', 'explain']);
        for (const tool of tools) assert.equal(tool.inputSchema.additionalProperties, false, tool.name);
        assert.match(client.getInstructions(), /interval/);
      });
      await t.test('right questions are answered with interval, origin and link', async () => {
        for (const [name, given, ...says] of right) {
          const { content, structuredContent: data, isError } = await call(name, given);
          assert.ok(!isError, `${name}: ${content[0].text}`);
          for (const part of says) assert.match(content[0].text, part, name);
          assert.ok(content[0].text.startsWith(data.sentence), name);
          assert.ok(data.link.startsWith(`${page}?view=`) && content[0].text.includes(data.link), `${name}: ${data.link}`);
        }
      });
      await t.test('wrong questions are answered with the sentence of the command line', async () => {
        for (const [name, given, says] of wrong) {
          const { content, isError } = await call(name, given);
          assert.ok(isError && content[0].text.includes(says), `${name}: ${content[0].text}`);
          assert.ok(!content[0].text.includes('\n'), name);
        }
      });
      await t.test('a canceled question ends, and the next one is answered', async () => {
        const stop = new AbortController();
        const asked = call('recommend', { hardware: 'any', model: 'llama-3.1-8b' }, { signal: stop.signal });
        stop.abort('no longer needed');
        await assert.rejects(asked);
        assert.match((await call('resolve_model', { name: 'llama-3.1-8b' })).content[0].text, /llama-3\.1-8b/);
      });
      await t.test('unknown tools and methods are errors', async () => {
        await assert.rejects(call('estmate', {}), /unknown tool `estmate`/);
        const listed = kind.sessions ? client.request({ method: 'resources/list' }, (await load('@modelcontextprotocol/sdk/types.js')).ListResourcesResultSchema) : client.request({ method: 'resources/list' });
        await assert.rejects(listed, /unknown method|does not support/);
        if (kind.sessions) assert.deepEqual(await client.ping(), {});
      });
    });
  }
}

test('files of the user are read over stdio and never over HTTP', async () => {
  const given = { hardware: 'h100', model: join(import.meta.dirname, '../../../docs/examples/custom-model.json') };
  for (const [transport, says] of [['stdio', /Fits with/], ['http', /is not in the catalog|unknown model/]]) {
    const client = clients[0].client();
    await client.connect(transports[transport](clients[0]));
    await client.listTools(); // so that answers are held against their schemas
    const { content, structuredContent: data, isError } = await client.callTool({ name: 'estimate', arguments: given });
    const model = await client.callTool({ name: 'resolve_model', arguments: { name: given.model } });
    await client.close();
    assert.match(content[0].text, says);
    assert.deepEqual([isError, model.isError], transport === 'http' ? [true, true] : [false, false]);
    if (transport === 'stdio') assert.equal(data.link, null);
  }
});

test('lines that are no messages are answered and never end the program', async () => {
  const ping = { jsonrpc: '2.0', id: 9, method: 'ping' };
  const { code, messages } = await exchange(['nonsense', '[]', '{"jsonrpc":"2.0","id":1}', '', '\u0000\u0001', `"${'x'.repeat(1_100_000)}"`, { jsonrpc: '2.0', id: 2, method: 'no/such' }, { jsonrpc: '2.0', method: 'notifications/other' }, ping]);
  assert.equal(code, 0);
  assert.deepEqual(messages.map((message) => message.error?.code ?? message.result), [-32700, -32600, -32600, -32700, -32600, -32601, {}]);
});

test('a question that waits at the end of the input is answered', async () => {
  const call = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'list_devices', arguments: {} } };
  const { code, messages } = await exchange([call]);
  assert.deepEqual([code, messages.length, messages[0].result.isError], [0, 1, false]);
});

const ping = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'ping' });
const post = (path, body, headers = {}) => fetch(new URL(path, daemon.url), { method: 'POST', body, headers: { 'content-type': 'application/json', authorization: `Bearer ${daemon.token}`, ...headers } });

test('HTTP refuses as REST does', async () => {
  for (const [status, body, headers] of [
    [200, ping, {}],
    [401, ping, { authorization: 'Bearer wrong' }],
    [401, ping, { authorization: `Basic ${daemon.token}` }],
    [403, ping, { origin: 'https://evil.test' }],
    [400, ping, { 'x-http-method-override': 'GET' }],
    [415, ping, { 'content-type': 'text/plain' }],
    [413, ' '.repeat(300_000), {}],
  ]) {
    const [mcp, rest] = await Promise.all(['mcp', 'api/v1/estimate'].map((path) => post(path, body, headers)));
    assert.equal(mcp.status, status, JSON.stringify(headers));
    if (status !== 200) assert.deepEqual([mcp.status, await mcp.text()], [rest.status, await rest.text()]);
  }
  const open = await fetch(new URL('mcp', daemon.url), { method: 'POST', body: ping, headers: { 'content-type': 'application/json' } });
  assert.equal(open.status, 401, 'a token is needed on this machine, too');
  for (const method of ['GET', 'DELETE']) {
    const refused = await fetch(new URL('mcp', daemon.url), { method, headers: { authorization: `Bearer ${daemon.token}` } });
    assert.deepEqual([refused.status, refused.headers.get('allow')], [405, 'POST']);
  }
});

test('HTTP answers messages that it does not take', async () => {
  const stateless = (method, more = {}) => JSON.stringify({ jsonrpc: '2.0', id: 1, method, params: { _meta: { 'io.modelcontextprotocol/protocolVersion': '2026-07-28', 'io.modelcontextprotocol/clientCapabilities': {} }, ...more } });
  const named = (method, more) => ({ 'mcp-protocol-version': '2026-07-28', 'mcp-method': method, ...more });
  for (const [body, headers, status, code] of [
    ['nonsense', {}, 400, -32700],
    [`[${ping}]`, {}, 400, -32600],
    [ping, { 'mcp-protocol-version': '2024-11-05' }, 400, -32022],
    [JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'no/such' }), {}, 200, -32601],
    [stateless('tools/list'), named('tools/list'), 200, undefined],
    [stateless('tools/list'), named('tools/call'), 400, -32020],
    [stateless('tools/list'), {}, 400, -32020],
    [stateless('tools/call', { name: 'check' }), named('tools/call', { 'mcp-name': 'explain' }), 400, -32020],
    [stateless('no/such'), named('no/such'), 404, -32601],
  ]) {
    const answer = await post('mcp', body, headers);
    const message = await answer.json();
    assert.deepEqual([answer.status, message.error?.code], [status, code], body);
  }
  const told = await post('mcp', JSON.stringify({ jsonrpc: '2.0', method: 'notifications/initialized' }));
  assert.deepEqual([told.status, await told.text()], [202, '']);
});

test('a wrong token does not open a session', async () => {
  const kind = clients[0];
  await assert.rejects(kind.client().connect(transports.http(kind, 'wrong')), /401/);
});
