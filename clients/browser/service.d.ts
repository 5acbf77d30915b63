// Types of the browser script, `window.service`, for pages that are written in TypeScript.

/** Properties by event type, as `npm run types` of the service writes them. */
export type AnyEvents = Record<string, Readonly<Record<string, unknown>>>;

type Properties = Readonly<Record<string, unknown>>;

export interface ChoiceOptions {
  readonly weights?: readonly number[];
  readonly unit?: 'device_id' | 'user_id';
  readonly version?: string | number;
  readonly environment?: string;
}

export interface Operations {
  readonly $set?: Properties;
  readonly $set_once?: Properties;
  readonly $add?: Readonly<Record<string, number>>;
  readonly $unset?: readonly string[];
}

/** A call before or after the script has loaded: `service.push(['track', 'signup'])`. */
type Call<Events extends object> =
  | { [Name in keyof Events & string]: ['track', Name, Readonly<Events[Name]>?, Properties?] }[keyof Events & string]
  | ['identify', string, Properties?, Operations?]
  | ['reset' | 'optIn' | 'optOut' | 'flush'];

/** With the events of a project, another event type or another property is a compile error. */
export interface Service<Events extends object = AnyEvents> {
  track<Name extends keyof Events & string>(
    eventType: Name,
    eventProperties?: Readonly<Events[Name]>,
    userProperties?: Properties,
  ): void;
  identify(userId: string, userProperties?: Properties, ops?: Operations): void;
  choice(key: string, variants: readonly string[], options?: ChoiceOptions): string;
  reset(): void;
  optIn(): void;
  optOut(): void;
  /** Resolves when everything queued is delivered or reported as lost. */
  flush(): Promise<void>;
  push(call: Call<Events>): void;
  onError?: (problem: unknown) => void;
}
