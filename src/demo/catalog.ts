// The fixed lists of the demo shop: products, countries, browsers, ways to the shop, plans and
// companies. Domains are reserved ones (.example), addresses those of documentation networks.

export const SHOP_URL = 'https://shop.example';

export interface Product {
  readonly slug: string;
  readonly category: string;
  readonly price: number;
}

export const PRODUCTS: readonly Product[] = [
  { slug: 'house-blend', category: 'coffee', price: 12 },
  { slug: 'single-origin', category: 'coffee', price: 18 },
  { slug: 'decaf', category: 'coffee', price: 13 },
  { slug: 'green-tea', category: 'tea', price: 9 },
  { slug: 'earl-grey', category: 'tea', price: 8 },
  { slug: 'hand-grinder', category: 'equipment', price: 59 },
  { slug: 'pour-over-set', category: 'equipment', price: 39 },
  { slug: 'espresso-machine', category: 'equipment', price: 349 },
];

export interface Country {
  /** The fields of an event's `geo`. */
  readonly geo: Readonly<Record<'country' | 'region' | 'city' | 'continent' | 'timezone', string>>;
  readonly utcOffsetHours: number;
  readonly language: string;
  /** The first three numbers of an address. */
  readonly network: string;
  readonly weight: number;
}

const country = (
  [code, region, city, continent, timezone]: readonly [string, string, string, string, string],
  rest: Omit<Country, 'geo'>,
): Country => ({ geo: { country: code, region, city, continent, timezone }, ...rest });

const [NETWORK_1, NETWORK_2, NETWORK_3] = ['192.0.2', '198.51.100', '203.0.113'] as const;

export const COUNTRIES: readonly Country[] = [
  country(['DE', 'Berlin', 'Berlin', 'EU', 'Europe/Berlin'], {
    ...{ utcOffsetHours: 1, language: 'de-DE', network: NETWORK_1, weight: 30 },
  }),
  country(['US', 'New York', 'New York', 'NA', 'America/New_York'], {
    ...{ utcOffsetHours: -5, language: 'en-US', network: NETWORK_2, weight: 26 },
  }),
  country(['GB', 'England', 'London', 'EU', 'Europe/London'], {
    ...{ utcOffsetHours: 0, language: 'en-GB', network: NETWORK_3, weight: 16 },
  }),
  country(['FR', 'Île-de-France', 'Paris', 'EU', 'Europe/Paris'], {
    ...{ utcOffsetHours: 1, language: 'fr-FR', network: NETWORK_1, weight: 11 },
  }),
  country(['NL', 'North Holland', 'Amsterdam', 'EU', 'Europe/Amsterdam'], {
    ...{ utcOffsetHours: 1, language: 'nl-NL', network: NETWORK_2, weight: 8 },
  }),
  country(['JP', 'Tokyo', 'Tokyo', 'AS', 'Asia/Tokyo'], {
    ...{ utcOffsetHours: 9, language: 'ja-JP', network: NETWORK_3, weight: 5 },
  }),
  country(['BR', 'São Paulo', 'São Paulo', 'SA', 'America/Sao_Paulo'], {
    ...{ utcOffsetHours: -3, language: 'pt-BR', network: NETWORK_1, weight: 4 },
  }),
];

export interface Browser {
  readonly name: 'chrome' | 'android' | 'iphone' | 'safari' | 'firefox' | 'edge';
  readonly viewport: string;
  readonly weight: number;
}

export const BROWSERS: readonly Browser[] = [
  { name: 'chrome', viewport: '1440x900', weight: 34 },
  { name: 'iphone', viewport: '390x844', weight: 24 },
  { name: 'android', viewport: '412x915', weight: 20 },
  { name: 'safari', viewport: '1512x982', weight: 9 },
  { name: 'firefox', viewport: '1366x768', weight: 8 },
  { name: 'edge', viewport: '1920x1080', weight: 5 },
];

const WINDOWS = 'Mozilla/5.0 (Windows NT 10.0; Win64; x64)';
const CHROME = 'AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0';
const WEBKIT = 'AppleWebKit/605.1.15 (KHTML, like Gecko)';

/** `iphoneVersion` is the version of Safari on phones, which changes within the 90 days. */
export function toUserAgent(name: Browser['name'], iphoneVersion: string): string {
  switch (name) {
    case 'chrome':
      return `${WINDOWS} ${CHROME} Safari/537.36`;
    case 'android':
      return `Mozilla/5.0 (Linux; Android 16; Pixel 9) ${CHROME} Mobile Safari/537.36`;
    case 'iphone': {
      const system = 'Mozilla/5.0 (iPhone; CPU iPhone OS 18_6 like Mac OS X)';
      return `${system} ${WEBKIT} Version/${iphoneVersion} Mobile/15E148 Safari/604.1`;
    }
    case 'safari':
      return `Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) ${WEBKIT} Version/26.0 Safari/605.1.15`;
    case 'firefox':
      return 'Mozilla/5.0 (X11; Linux x86_64; rv:145.0) Gecko/20100101 Firefox/145.0';
    case 'edge':
      return `${WINDOWS} ${CHROME} Safari/537.36 Edg/142.0.0.0`;
  }
}

/** How a person first came to the shop. */
export interface Channel {
  readonly utm?: Readonly<Record<'utm_source' | 'utm_medium' | 'utm_campaign', string>>;
  readonly referrer?: string;
  readonly weight: number;
  /** Days from the first of the 90 on which it brings people; all when absent. */
  readonly days?: readonly [first: number, last: number];
  /** Share of its people who sign up. */
  readonly signUpRate: number;
}

const campaign = (utm_source: string, utm_medium: string, utm_campaign: string) => ({
  utm: { utm_source, utm_medium, utm_campaign },
});

export const CHANNELS: readonly Channel[] = [
  { weight: 22, signUpRate: 0.18 },
  { referrer: 'https://www.google.com/', weight: 26, signUpRate: 0.17 },
  { referrer: 'https://coffee-notes.example/best-grinders', weight: 8, signUpRate: 0.2 },
  { ...campaign('newsletter', 'email', 'monthly-letter'), weight: 7, signUpRate: 0.42 },
  {
    ...{ ...campaign('google', 'cpc', 'brand-search'), referrer: 'https://www.google.com/' },
    ...{ weight: 13, signUpRate: 0.2 },
  },
  {
    ...{ ...campaign('instagram', 'paid-social', 'latte-art'), referrer: 'https://www.instagram.com/' },
    ...{ weight: 40, signUpRate: 0.025, days: [25, 89] },
  },
];

export interface Plan {
  readonly name: 'free' | 'plus' | 'team' | 'business';
  readonly weight: number;
  readonly isOfCompany: boolean;
  /** How many units of a product an order has. */
  readonly quantity: readonly [min: number, max: number];
  readonly visitFactor: number;
}

export const PLANS: readonly Plan[] = [
  { name: 'free', weight: 68, isOfCompany: false, quantity: [1, 2], visitFactor: 1 },
  { name: 'plus', weight: 20, isOfCompany: false, quantity: [1, 3], visitFactor: 1.3 },
  { name: 'team', weight: 8, isOfCompany: true, quantity: [3, 8], visitFactor: 1.2 },
  { name: 'business', weight: 4, isOfCompany: true, quantity: [80, 160], visitFactor: 1.8 },
];

const COMPANY_FIRST = ['Alder', 'Birch', 'Cedar', 'Dune', 'Ember', 'Fjord', 'Grove', 'Harbor'] as const;
const COMPANY_SECOND = ['Works', 'Studio', 'Logistics', 'Foods', 'Clinics'] as const;

export const COMPANIES: readonly string[] = COMPANY_FIRST.flatMap((first) =>
  COMPANY_SECOND.map((second) => `${first} ${second}`),
);

export const FIRST_NAMES = ['Ana', 'Ben', 'Chloe', 'Daan', 'Emi', 'Finn', 'Greta', 'Hugo', 'Ines', 'Jonas'] as const;
export const LAST_NAMES = ['Almeida', 'Becker', 'Clark', 'de Vries', 'Evans', 'Fischer', 'Garnier', 'Hayashi'] as const;
