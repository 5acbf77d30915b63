// The time of the service, from its responses: the clock of a browser may be wrong by days.

let aheadMs = 0;

export function readClock({ headers }: Response): void {
  const serviceMs = Date.parse(headers.get('Date') ?? '');
  if (!Number.isNaN(serviceMs)) aheadMs = serviceMs - Date.now();
}

export const serviceNow = (): number => Date.now() + aheadMs;
