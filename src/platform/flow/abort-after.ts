// Timeout signal beside others. Node.js may collect an AbortSignal.timeout() that only
// AbortSignal.any() refers to, and the result then never aborts (nodejs/node#57736). Here the timer
// refers to the source.

/** Aborts with a TimeoutError after `ms`, or earlier with `signal`. */
export function abortAfter(ms: number, signal?: AbortSignal): AbortSignal {
  const timeout = new AbortController();
  const late = () => timeout.abort(new DOMException('The operation was aborted due to timeout', 'TimeoutError'));
  setTimeout(late, ms).unref();
  return signal === undefined ? timeout.signal : AbortSignal.any([signal, timeout.signal]);
}
