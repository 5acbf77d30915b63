// Domains about whose recipients the mail server does not answer, because it asks a server of the
// domain that does not. One mail at a time tries such a domain, so that the other mails to it take
// no places of those to other domains.

const DOMAINS_MAX = 1000;

export class SlowDomains {
  /** As of performance.now(), which no change of the machine's clock moves. */
  readonly #untilMs = new Map<string, number>();

  /** `waitMs`: between two mails that try a domain; longer than an attempt takes. */
  constructor(private readonly waitMs: number) {}

  /** Undefined when a mail may be sent now, otherwise after how many milliseconds to ask again. */
  takeTurn(address: string): number | undefined {
    const until = this.#untilMs.get(domainOf(address));
    if (until === undefined) return undefined;
    const waitMs = until - performance.now();
    if (waitMs > 0) return waitMs;
    this.timedOut(address);
    return undefined;
  }

  timedOut(address: string): void {
    if (this.#untilMs.size >= DOMAINS_MAX) this.#untilMs.clear();
    this.#untilMs.set(domainOf(address), performance.now() + this.waitMs);
  }

  answered(address: string): void {
    this.#untilMs.delete(domainOf(address));
  }
}

const domainOf = (address: string): string => address.slice(address.lastIndexOf('@') + 1).toLowerCase();
