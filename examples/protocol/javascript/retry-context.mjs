/** Keeps the retry protocol: the retries of a chain of services do not multiply. */
import { AsyncLocalStorage } from 'node:async_hooks';
import { createHash } from 'node:crypto';
import { BlockList, isIP } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

const FIELD = 'Retry-Context', MAX_BYTES = 2048, MAX_NAMES = 16, MAX_KNOWN = 64, MAX_LEFT = 1e11;
const LIFETIME = 60e3, MAX_DELAY = 30e3, MAX_AFTER = 60e3, MAX_TIMEOUT = 1e9; // milliseconds
const { raw } = String;
const KEY = raw`[a-z*][a-z0-9_\-.*]*`; // The grammar of RFC 9651 is regular.
const BARE = raw`(?:-?(?:[0-9]{1,12}\.[0-9]{1,3}|[0-9]{1,15})(?![0-9.])|"(?:[ !#-\[\]-~]|\\["\\])*"`
  + raw`|[A-Za-z*][!#$%&'*+\-.^_\x60|~0-9A-Za-z:/]*|:[A-Za-z0-9+/=]*:|\?[01]`
  + raw`|@-?[0-9]{1,15}(?![0-9.])|%"(?:[ !#$&-~]|%[0-9a-f]{2})*")`;
const PARAMS = `(?:; *${KEY}(?:=${BARE})?)*`;
const INNER = raw`\( *(?:${BARE}${PARAMS}(?: +${BARE}${PARAMS})* *)?\)`;
const MEMBER = new RegExp(`(${KEY})(?:=(${INNER}|${BARE}))?${PARAMS}[ \\t]*(?:,[ \\t]*(?!$)|$)`, 'y');
const ITEM = new RegExp(`(${BARE})${PARAMS}`, 'g');
const PATH = /^[A-Za-z0-9_-]{1,16}(?:\.[A-Za-z0-9_-]{1,16}){0,7}$/;
// Resolvers read "2130706433" and "0x7f.1" as addresses, though they look like names.
const OWN_NAME = /^(?!(.*\.)?([0-9]+|0x[0-9a-f]*)$)([^.:]+|.+\.(local|internal|svc|localhost|test))$/;
const OWN_NETWORKS = new BlockList();
for (const [network, bits] of [['127.0.0.0', 8], ['10.0.0.0', 8], ['172.16.0.0', 12], ['192.168.0.0', 16],
  ['100.64.0.0', 10], ['169.254.0.0', 16], ['::1', 128], ['fc00::', 7], ['fe80::', 10]]) {
  OWN_NETWORKS.addSubnet(network, bits, `ipv${isIP(network)}`);
}

/** Returns what the field of a request or an answer says; what is missing has its default. */
export function parse(value) {
  const text = typeof value === 'string' && value.length <= MAX_BYTES ? value.replace(/^ +/, '') : '';
  const members = new Map();
  MEMBER.lastIndex = 0; // Where it matches no member, it is 0 again.
  for (let match; MEMBER.lastIndex < text.length && (match = MEMBER.exec(text));) {
    members.set(match[1], match[2] ?? '?1');
  }
  if (MEMBER.lastIndex !== text.length) members.clear();
  const get = (key) => members.get(key) ?? '';
  const number = (key, missing) => (/^[0-9]|^-[0.]+$/.test(get(key)) ? Number(get(key)) : missing);
  const items = get('used').startsWith('(') ? [...get('used').slice(1, -1).matchAll(ITEM)] : [];
  const names = items.slice(0, MAX_NAMES).map(([, item]) => (item[0] === '"' ? item.slice(1, -1) : ''));
  return {
    left: number('left', Infinity), low: get('priority') === 'low',
    attempt: get('attempt').includes('.') ? 1 : Math.max(1, number('attempt', 1)),
    used: names.every((name) => PATH.test(name)) ? [...new Set(names)] : [],
    after: number('after', 0), final: get('final') === '?1', expired: get('expired') === '?1',
  };
}

/** Returns a field's value, or '' if it says nothing; times in ms, `used` from old to new. */
export function write({ left = Infinity, attempt, used = [], low, after = 0, final }) {
  const names = used.slice(-MAX_NAMES).reverse().map((name) => `"${name}"`);
  while (names.join(' ').length > MAX_BYTES - 128) names.pop(); // Sixteen of the longest are too long.
  return [
    left < Infinity && `left=${(Math.floor(Math.min(left, MAX_LEFT) * 1000) / 1000).toFixed(3)}`, low && 'priority=low',
    attempt && `attempt=${attempt}`, names.length && `used=(${names.join(' ')})`,
    after > 0 && `after=${Math.ceil(Math.min(after, MAX_LEFT))}`, final && 'final',
  ].filter(Boolean).join(', ');
}

const ROOT = { deadline: Infinity, attempt: 1, low: false, marks: new Map() };
const storage = new AsyncLocalStorage();
/** Returns what holds here: the `deadline`, as a time of `performance.now()`, `attempt` and `low`. */
export const current = () => storage.getStore() ?? ROOT;

const part = (text) => createHash('sha256').update(text).digest('hex').slice(0, 8), edgeOf = (name) => name.split('.', 1)[0];
const fresh = (marks) => [...marks].filter(([, at]) => at > performance.now() - LIFETIME)
  .sort(([, one], [, other]) => one - other).map(([name]) => name);

function learn(call, names) {
  for (; call.parent && names.length; call = call.parent) { // What is outside of calls learns nothing.
    for (const name of names) call.learned.set(name, performance.now());
    const known = fresh(call.learned).slice(-(MAX_KNOWN ** 2));
    const excess = known.filter((name) => edgeOf(name) === edgeOf(names[0])).slice(0, -MAX_KNOWN);
    const kept = new Set(known.filter((name) => !excess.includes(name)));
    for (const name of call.learned.keys()) if (!kept.has(name)) call.learned.delete(name);
  }
}

/** Runs `run` with `left` milliseconds for its calls, and lets others go before them if `low`. */
export function within({ left = Infinity, low = false, ...changes }, run) {
  const outer = current(), deadline = Math.min(outer.deadline, performance.now() + left);
  const inner = { ...outer, parent: outer, deadline, low: outer.low || low, learned: new Map(), ...changes };
  return storage.run(inner, run, inner);
}

/** Resolves to what `run` resolves to, after up to `attempts` attempts; `base` is in milliseconds. */
export async function retry(name, attempts, run, { base = 100 } = {}) {
  const outer = current(), own = part(name), learned = new Map();
  const limit = fresh(outer.marks).includes(own) ? 1 : attempts;
  for (let number = 1; ; number++) {
    const attempt = Math.max(number, outer.attempt), marks = new Map([...outer.marks, ...learned]);
    try {
      return await within({ attempt, marks, learned }, run);
    } catch (error) {
      const jitter = Math.random() * Math.min(MAX_DELAY, base * 2 ** (number - 1));
      const delay = Math.max(jitter, Math.min(MAX_AFTER, error?.after || 0));
      const isOver = number >= limit || performance.now() + delay >= outer.deadline;
      if (isOver && !error?.final) learn(outer, [own]);
      if (isOver || error?.final) throw error;
      await sleep(delay);
    }
  }
}

/** A call without an answer, or with one of status 500 or above; `after` is in milliseconds. */
export class CallFailed extends Error { final = false; after = 0; }

/** Returns whether a host, given by name or address, is of the own system. */
export function isOwn(host = '') {
  const name = host.toLowerCase().replace(/^\[|\]$/g, '').replace(/^::ffff:/, '').replace(/\.$/, '');
  return isIP(name) ? OWN_NETWORKS.check(name, `ipv${isIP(name)}`) : OWN_NAME.test(name);
}

/** Resolves to the answer to a request with these options of `fetch`; `own` overrides `isOwn`. */
export async function send(url, { own, ...options } = {}) {
  const { host, hostname } = new URL(url), call = current(), edge = `${part(host)}.`;
  const left = call.deadline - performance.now(), isKnown = own ?? isOwn(hostname);
  if (left <= 0) throw new CallFailed(`${url}: the deadline is over`);
  const used = fresh(call.marks).filter((name) => name.startsWith(edge)).map((name) => name.slice(edge.length));
  const headers = new Headers(options.headers), value = isKnown && write({ ...call, left, used });
  if (value) headers.set(FIELD, value);
  const timeout = left < MAX_TIMEOUT && AbortSignal.timeout(Math.floor(left));
  const signal = AbortSignal.any([options.signal, timeout].filter(Boolean));
  const redirect = isKnown ? 'manual' : 'follow'; // A redirect may lead the field to another host.
  const answer = await fetch(url, { redirect, ...options, headers, signal }).catch((cause) => {
    throw Object.assign(new CallFailed(`${url}: ${cause}`, { cause }), { final: !!options.signal?.aborted });
  });
  const { used: names, final, after } = parse(isKnown ? answer.headers.get(FIELD) : '');
  learn(call, names.reverse().map((name) => edge + name).filter((name) => PATH.test(name)));
  if (answer.status < 500) return answer;
  await answer.body?.cancel();
  throw Object.assign(new CallFailed(`${url}: ${answer.status}`), { final, after });
}

/** Returns a request listener that runs `handler(request, response, answer)`; set `answer.after`, `.final`. */
export const serve = (handler) => (request, response) => {
  const field = request.headers[FIELD.toLowerCase()], { writeHead } = response;
  const own = field !== undefined && isOwn(request.socket.remoteAddress);
  const { left, low, attempt, used } = parse(own ? field : '');
  if (left === 0) return response.writeHead(504, { [FIELD]: 'expired' }).end();
  const marks = new Map((attempt > 1 ? used : []).map((name) => [name, performance.now()])), answer = {};
  return storage.run(ROOT, within, { left, low, attempt, marks }, async (call) => {
    response.writeHead = (...all) => { // Node calls it if the handler does not.
      const value = own && write({ ...answer, used: fresh(call.learned) });
      if (value) response.setHeader(FIELD, value);
      return writeHead.apply(response, all);
    };
    await handler(request, response, answer);
  }).catch(() => (response.headersSent ? response.destroy() : response.writeHead(500).end()));
};
