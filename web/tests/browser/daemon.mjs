// Scripted daemon: the protocol of `ridgepoint serve` with scripted jobs, over real sockets. The behavior of the real daemon
// is tested with the real one; this one can have another version, drop a connection midway, and report any measurement.
import { createHash, createHmac, randomBytes } from 'node:crypto';
import { createServer } from 'node:http';

const hex = (buffer) => Buffer.from(buffer).toString('hex');
const hmac = (key, parts) => createHmac('sha256', key).update(Buffer.concat(parts)).digest();
const limits = { message_bytes: 262144, sessions: 64, messages_per_s: 20, subscriptions: 32, telemetry_hz: 20, queued_jobs: 32, jobs_per_key: 8, points: 4096, dimension: 65536, job_s: 3600 };

/** Processor of the scripted daemon, which the catalog has as epyc_9654. */
export const machine = 'AMD EPYC 9654 96-Core Processor';

/** A job's record of one point; `seconds` is its median time in s. */
export function record(weights, seconds, { m, n, k } = { m: 1, n: 4096, k: 4096 }, more = {}) {
  const [bytes, flops] = [n * k, 2 * m * n * k];
  return {
    schema: 1, kernel: 'gemv', route: 'avx2', backend: 'cpu', device: machine, shape: { m, n, k }, precision: { weights, activations: 'fp32' }, cache: 'cold',
    bytes, flops, time_s: { median: seconds, low: seconds * 0.95, high: seconds * 1.05, n: 40 }, byte_per_s: bytes / seconds, flop_per_s: flops / seconds,
    energy_j: null, check: { worst_error: 1e-6, tolerance: 1e-4, passed: true }, flags: [], conditions: {}, ...more,
  };
}

export const readings = [
  { name: 'load_1m', value: 0.5 },
  { name: 'memory_available_byte', value: 8e9 },
  { name: 'gpu_power_watt', value: null, reason: 'no GPU driver' },
];

/** Starts a scripted daemon. `run(job, daemon)` is called for each started job; `emit` sends the job's events; `unknown` are messages that it is too old for. */
export async function startDaemon({ versions = { min: 1, max: 1 }, scopes = ['read', 'bench'], run = () => {}, unknown = [] } = {}) {
  const server = randomBytes(16);
  const [codes, keys, jobs, sessions, heard] = [new Set(), new Map(), [], new Set(), []];
  const http = createServer((_, answer) => answer.writeHead(404).end());

  const daemon = {
    heard,
    jobs,
    /** Creates a one-time code. */
    code: () => {
      const code = `TEST${hex(randomBytes(8)).toUpperCase()}`;
      codes.add(code);
      return code;
    },
    /** Sends an event of a job to all subscribers, present and later. */
    emit: (job, event) => {
      job.events.push({ job: job.job, seq: job.events.length + 1, at_ms: Date.now(), event });
      job.state = event.type === 'started' ? 'running' : event.type === 'ended' ? event.state : job.state;
      for (const session of sessions) session.follow();
    },
    /** Sends a message to all sessions. */
    say: (say) => [...sessions].forEach((session) => session.say(say)),
    /** Drops all connections without a close frame, like an unplugged cable. */
    drop: () => [...sessions].forEach((session) => session.socket.destroy()),
    /** Number of open sockets. */
    get open() { return sessions.size; },
    stop: () => new Promise((resolve) => (daemon.drop(), http.close(resolve))),
  };

  http.on('upgrade', (request, socket) => {
    const accept = createHash('sha1').update(`${request.headers['sec-websocket-key']}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`).digest('base64');
    socket.write(`HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: ${accept}\r\nSec-WebSocket-Protocol: ${request.headers['sec-websocket-protocol']}\r\n\r\n`);
    attend(socket, request.headers.origin);
  });

  function attend(socket, origin) {
    const nonce = randomBytes(32);
    const followed = new Map();
    const session = {
      socket,
      say: (say, id) => socket.writable && socket.write(frame(1, JSON.stringify({ ...(id === undefined ? {} : { id }), say }))),
      follow: () => {
        for (const [number, seq] of followed) {
          const { events } = jobs.find(({ job }) => job === number);
          for (const event of events.slice(seq)) session.say({ type: 'event', ...event });
          followed.set(number, events.length);
        }
      },
    };
    const summary = ({ job, request, spec, state, events }) => ({ job, request, spec, state, created_ms: 1, last_seq: events.length });
    const part = (code, fault, message) => {
      session.say({ type: 'bye', code: fault, message });
      const reason = Buffer.alloc(2);
      reason.writeUInt16BE(code);
      socket.end(frame(8, reason));
    };

    let proved = false;
    const prove = (id, ask) => {
      const text = (name, more = [], end = [Buffer.from(origin)]) => [Buffer.from(`ridgepoint 1 ${name}\0`), nonce, Buffer.from(ask.nonce, 'hex'), server, ...more, ...end];
      if (ask.type === 'pair') {
        const code = [...codes].find((code) => hex(hmac(code, text('pair'))) === ask.proof);
        if (!code) return part(4401, 'unauthenticated', 'this pairing code is wrong, used, or older than 5 minutes');
        codes.delete(code);
        const key = randomBytes(8);
        keys.set(hex(key), hmac(code, text('pair key', [key], [])));
        proved = true;
        return session.say({ type: 'paired', key: hex(key), proof: hex(hmac(code, text('paired', [key]))), scopes, session: 1, epoch: '0000000000000001', machine }, id);
      }
      const secret = keys.get(ask.key);
      if (!secret || hex(hmac(secret, text('identify'))) !== ask.proof) return part(4401, 'unauthenticated', 'this key is unknown to the daemon');
      proved = true;
      session.say({ type: 'identified', proof: hex(hmac(secret, text('identified'))), scopes, session: 1, epoch: '0000000000000001', machine }, id);
    };

    const answers = {
      start_job: ({ request, job: spec }) => {
        const known = jobs.find((job) => job.request === request);
        const job = known ?? { job: jobs.length + 1, request, spec, state: 'queued', events: [] };
        if (!known) {
          jobs.push(job);
          daemon.emit(job, { type: 'queued' });
          setTimeout(() => run(job, daemon), 20);
        }
        return { type: 'accepted', job: job.job, fresh: !known };
      },
      continue_job: ({ request, job: ended }) => {
        const { spec, events } = jobs[ended - 1];
        const job = { job: jobs.length + 1, request, spec, state: 'queued', events: [] };
        jobs.push(job);
        for (const { event } of events.filter(({ event }) => event.type === 'result')) daemon.emit(job, event);
        daemon.emit(job, { type: 'queued' });
        setTimeout(() => run(job, daemon), 20);
        return { type: 'accepted', job: job.job, fresh: true };
      },
      cancel_job: ({ job }) => (daemon.emit(jobs[job - 1], { type: 'ended', state: 'canceled' }), { type: 'ok' }),
      list_jobs: () => ({ type: 'jobs', jobs: jobs.toReversed().map(summary) }),
      subscribe_job: ({ job, after }) => {
        followed.set(job, after);
        setTimeout(session.follow, 1);
        return { type: 'snapshot', job: summary(jobs[job - 1]), after };
      },
      unsubscribe_job: ({ job }) => (followed.delete(job), { type: 'ok' }),
      subscribe_telemetry: () => (setTimeout(() => session.say({ type: 'telemetry', at_ms: 1, readings }), 5), { type: 'ok' }),
    };

    sessions.add(session);
    socket.on('close', () => sessions.delete(session));
    socket.on('error', () => {});
    readFrames(socket, (text) => {
      const { id, ask } = JSON.parse(text);
      heard.push(ask);
      if (!proved) return prove(id, ask);
      if (unknown.includes(ask.type)) return session.say({ type: 'fault', code: 'malformed', message: `malformed message: unknown variant ${ask.type}` }, id);
      session.say(answers[ask.type]?.(ask) ?? { type: 'ok' }, id);
    });
    session.say({ type: 'hello', protocol: versions, server: hex(server), nonce: hex(nonce), version: '9.8.7', limits });
  }

  await new Promise((resolve) => http.listen(0, '127.0.0.1', resolve));
  daemon.address = `127.0.0.1:${http.address().port}`;
  return daemon;
}

/** Encodes a WebSocket frame of a server. */
function frame(kind, content) {
  const body = Buffer.from(content);
  const length = body.length < 126 ? Buffer.from([body.length]) : Buffer.from([126, body.length >> 8, body.length & 255]);
  return Buffer.concat([Buffer.from([128 | kind]), length, body]);
}

/** Calls `heard` with each text of a client, and answers a close frame with a close frame. */
function readFrames(socket, heard) {
  let left = Buffer.alloc(0);
  socket.on('data', (data) => {
    left = Buffer.concat([left, data]);
    for (;;) {
      if (left.length < 6) return;
      const short = left[1] & 127;
      const at = short === 126 ? 4 : 2;
      const length = short === 126 ? left.readUInt16BE(2) : short;
      if (left.length < at + 4 + length) return;
      const mask = left.subarray(at, at + 4);
      const body = left.subarray(at + 4, at + 4 + length).map((byte, index) => byte ^ mask[index % 4]);
      const kind = left[0] & 15;
      left = left.subarray(at + 4 + length);
      if (kind === 1) heard(Buffer.from(body).toString());
      if (kind === 8) socket.end(frame(8, body));
    }
  });
}
