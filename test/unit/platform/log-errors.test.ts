// Errors of connections to Redis: each is logged once within half a minute.
import { EventEmitter } from 'node:events';
import { afterEach, expect, test, vi } from 'vitest';
import { logErrors } from '../../../src/platform/redis/log-errors.js';

afterEach(() => vi.useRealTimers());

function logged() {
  const source = new EventEmitter();
  const warn = vi.fn();
  logErrors(source, { log: { warn }, message: 'redis is lost', queue: 'mails' });
  const fail = (message: string) => source.emit('error', new Error(message));
  return {
    fail,
    messages: () => warn.mock.calls.map(([{ err, queue, repeated }, text]) => [err.message, queue, text, repeated]),
  };
}

test('an error is logged once, and again after half a minute with how often it came meanwhile', () => {
  vi.useFakeTimers({ toFake: ['performance'] });
  const { fail, messages } = logged();
  for (let attempt = 0; attempt < 20; attempt++) {
    fail('refused');
    vi.advanceTimersByTime(2_000);
  }
  const line = ['refused', 'mails', 'redis is lost'];
  expect(messages()).toEqual([
    [...line, undefined],
    [...line, 14],
  ]);
});

test('an error of the network is logged once for all connections of the process', () => {
  const warn = vi.fn();
  const sources = ['mails', 'demo', 'export'].map((queue) => {
    const source = new EventEmitter();
    logErrors(source, { log: { warn }, message: 'redis is lost', queue });
    return source;
  });
  const refused = () => Object.assign(new Error('connect ECONNREFUSED 192.0.2.1:6379'), { code: 'ECONNREFUSED' });
  for (const source of sources) source.emit('error', refused());
  expect(warn.mock.calls.map(([{ queue }]) => queue)).toEqual(['mails']);
  for (const source of sources) source.emit('error', new Error('NOAUTH'));
  expect(warn.mock.calls.map(([{ queue }]) => queue)).toEqual(['mails', 'mails', 'demo', 'export']);
});

test('a full disk of redis is logged once, whichever command finds it', () => {
  const warn = vi.fn();
  const sources = ['mails', 'demo', 'export'].map((queue) => {
    const source = new EventEmitter();
    logErrors(source, { log: { warn }, message: 'redis is lost', queue });
    return source;
  });
  const full = 'MISCONF Errors writing to the AOF file: No space left on device';
  const refusals = [full, ...['a', 'b'].map((sha) => `${full} script: ${sha.repeat(40)}, on @user_script:217.`)];
  for (const source of sources) {
    for (const message of refusals) source.emit('error', Object.assign(new Error(message), { name: 'ReplyError' }));
  }
  expect(warn.mock.calls.map(([{ err }]) => err.message)).toEqual([full]);
});

test('another error is logged at once, and however many there are', () => {
  const { fail, messages } = logged();
  for (let number = 0; number < 50; number++) fail(`error ${number}`);
  expect(messages().map(([message]) => message)).toEqual(Array.from({ length: 50 }, (_, number) => `error ${number}`));
});
