// The events of one visit: pages, products, a sign-up, a checkout that ends with a purchase or not.
// Pure: they depend on the seed, the person and the visit alone.
import { DAY_MS, startOfDay } from './calendar.js';
import { type Plan, PRODUCTS, type Product, SHOP_URL, toUserAgent } from './catalog.js';
import type { Person, Visit } from './people.js';
import { createRandom, type Random } from './random.js';
import { CHECKOUT_BUG, CHECKOUT_ERROR, EXPERIMENT, SALE } from './stories.js';

type Properties = Readonly<Record<string, string | number>>;

/** Request body of one event, for a secret key. */
export interface ShopEvent {
  readonly event_type: string;
  readonly time: number;
  readonly insert_id: string;
  readonly device_id: string;
  readonly user_id?: string;
  readonly session_id: string;
  readonly event_properties: Properties;
  readonly ip: string;
  readonly geo: Properties;
  readonly user_agent: string;
  readonly library: string;
  readonly origin: 'client';
}

export interface VisitContext {
  readonly seed: string;
  readonly endMs: number;
  readonly library: string;
}

const PAGES = { anonymous: [1, 4], 'sign-up': [2, 5], 'signed-in': [2, 6] } as const;
/** Share of visits before the sign-up that end with their first page. */
const BOUNCE_RATE = 0.4;
const STEP_MS = [4_000, 75_000] as const;
const SEARCH_RATE = 0.12;
const CART_RATE = { anonymous: 0.06, 'sign-up': 0.55, 'signed-in': 0.34 } as const;
const GUEST_QUANTITY: Plan['quantity'] = [1, 2];
const CHECKOUT_RATE = 0.8;
/** Share of checkouts that end with a purchase, without the experiment. */
const PURCHASE_RATE = 0.55;
const OTHER_ERROR_RATE = 0.02;

export function createVisit(context: VisitContext, person: Person, visit: Visit): ShopEvent[] {
  const random = createRandom(`${context.seed}/visit/${person.index}/${visit.timeMs}`);
  const recorder = new VisitRecorder(context, { person, visit, random });
  land(recorder, person, visit);
  if (visit.kind === 'anonymous' && random.chance(BOUNCE_RATE)) return recorder.events;
  const products = browse(recorder, random, visit);
  if (visit.kind === 'sign-up') signUp(recorder, person);
  const day = Math.floor((visit.timeMs - startOfDay(context.endMs, 0)) / DAY_MS);
  const isSale = day >= SALE.days[0] && day <= SALE.days[1];
  if (random.chance(Math.min(0.9, CART_RATE[visit.kind] * (isSale ? SALE.cartFactor : 1)))) {
    const basket = fillCart(recorder, random, { products, person });
    if (visit.kind !== 'anonymous' && random.chance(CHECKOUT_RATE)) checkOut(recorder, { random, person, day, basket });
  }
  return recorder.events;
}

/** Collects events in the order of their times, none after the end. */
class VisitRecorder {
  readonly events: ShopEvent[] = [];
  readonly userAgent: string;
  readonly hasBug: boolean;
  #timeMs: number;
  #userId: string | undefined;
  readonly #context: VisitContext;
  readonly #of: { readonly person: Person; readonly visit: Visit; readonly random: Random };

  constructor(context: VisitContext, of: { person: Person; visit: Visit; random: Random }) {
    const { visit, person } = of;
    this.#context = context;
    this.#of = of;
    this.#timeMs = visit.timeMs;
    this.#userId = visit.kind === 'signed-in' ? person.user?.id : undefined;
    const isUpdated = visit.timeMs >= visit.device.updatedAtMs;
    this.hasBug = isUpdated && visit.device.browser.name === CHECKOUT_BUG.browser;
    this.userAgent = toUserAgent(
      visit.device.browser.name,
      isUpdated ? CHECKOUT_BUG.version : CHECKOUT_BUG.versionBefore,
    );
  }

  signIn(userId: string | undefined): void {
    this.#userId = userId;
  }

  add(eventType: string, properties: Properties): void {
    const { person, visit, random } = this.#of;
    if (this.#timeMs <= this.#context.endMs) {
      const session = `${visit.device.id}-${visit.timeMs}`;
      this.events.push({
        event_type: eventType,
        time: this.#timeMs,
        insert_id: `${session}-${this.events.length}`,
        device_id: visit.device.id,
        ...(this.#userId !== undefined && { user_id: this.#userId }),
        session_id: session,
        event_properties: properties,
        ip: person.address,
        geo: person.country.geo,
        user_agent: this.userAgent,
        library: this.#context.library,
        origin: 'client',
      });
    }
    this.#timeMs += random.integer(...STEP_MS);
  }

  addPage(path: string, title: string, more: Properties = {}): void {
    const { person, visit } = this.#of;
    this.add('page_view', {
      ...{ url: `${SHOP_URL}${path}`, title, language: person.country.language },
      ...{ viewport: visit.device.browser.viewport, ...more },
    });
  }
}

/** The first visit of a person comes through the channel; later ones go straight to the shop. */
function land(recorder: VisitRecorder, { channel }: Person, { isFirst }: Visit): void {
  const { utm, referrer } = isFirst ? channel : {};
  const query = utm === undefined ? '' : `?${new URLSearchParams(utm)}`;
  const referred = referrer === undefined ? {} : { referrer, referring_domain: new URL(referrer).hostname };
  recorder.addPage(`/${query}`, 'Coffee, tea and what you need for them', { ...referred, ...utm });
}

function browse(recorder: VisitRecorder, random: Random, { kind }: Visit): readonly Product[] {
  if (random.chance(SEARCH_RATE)) {
    const text = random.pick(PRODUCTS).category;
    recorder.add('search', { text, results: random.integer(0, 12) });
  }
  const [min, max] = PAGES[kind];
  const seen = Array.from({ length: random.integer(min, max) }, () => random.pick(PRODUCTS));
  for (const product of seen) {
    recorder.addPage(`/${product.category}/${product.slug}`, product.slug.replaceAll('-', ' '));
    if (random.chance(0.7)) recorder.add('product_viewed', toProperties(product));
  }
  return seen;
}

const toProperties = ({ slug, category, price }: Product): Properties => ({ product: slug, category, price });

function signUp(recorder: VisitRecorder, { user }: Person): void {
  recorder.addPage('/sign-up', 'Create an account');
  recorder.signIn(user?.id);
  recorder.add('signup', { plan: user?.plan.name ?? 'free' });
}

interface Basket {
  readonly items: number;
  readonly total: number;
}

function fillCart(
  recorder: VisitRecorder,
  random: Random,
  { products, person }: { readonly products: readonly Product[]; readonly person: Person },
): Basket {
  const chosen = products.slice(0, random.integer(1, 2));
  const [min, max] = person.user?.plan.quantity ?? GUEST_QUANTITY;
  const basket = { items: 0, total: 0 };
  for (const product of chosen) {
    // Expensive products are bought one at a time.
    const quantity = product.price > 100 ? 1 : random.integer(min, max);
    recorder.add('add_to_cart', { ...toProperties(product), quantity });
    basket.items += quantity;
    basket.total += quantity * product.price;
  }
  recorder.addPage('/cart', 'Your cart');
  return basket;
}

function checkOut(
  recorder: VisitRecorder,
  of: { readonly random: Random; readonly person: Person; readonly day: number; readonly basket: Basket },
): void {
  const { random, person, day, basket } = of;
  const variant = day >= EXPERIMENT.firstDay ? EXPERIMENT.variants[person.variant] : undefined;
  recorder.addPage('/checkout', 'Checkout');
  if (variant !== undefined) {
    recorder.add('service.exposure', { choice_key: EXPERIMENT.choice, variant_key: variant.key });
  }
  recorder.add('checkout_started', { ...basket, currency: 'EUR' });
  const failureRate = recorder.hasBug ? CHECKOUT_BUG.failureRate : OTHER_ERROR_RATE;
  if (random.chance(failureRate)) {
    recorder.add('checkout_error', { message: recorder.hasBug ? CHECKOUT_ERROR : 'card declined', step: 'payment' });
    return;
  }
  if (!random.chance(variant?.purchaseRate ?? PURCHASE_RATE)) return;
  recorder.add('purchase', { ...basket, currency: 'EUR' });
  recorder.addPage('/thank-you', 'Thank you');
}
