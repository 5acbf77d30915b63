// Routes of the pages /, /login and /invitations/{token}, rendered on the server, of the console's
// addresses, and of the assets of all in /public.
import type { ErrorRequestHandler, Request, Response, Router } from 'express';
import { findMembership } from '../access/membership.js';
import { refuseCrossOrigin } from '../access/same-origin.js';
import { readSessionToken, setSessionCookie } from '../access/session-cookie.js';
import {
  countRequest,
  findPerson,
  nameOf,
  type Person,
  personOf,
  requireSession,
  type SessionGuards,
} from '../access/session-middleware.js';
import { acceptInvitation } from '../accounts/invitations.js';
import { listDemos, listProjects } from '../accounts/projects.js';
import { createSession, endSession } from '../accounts/sessions.js';
import { findInvitationLink, type InvitationLink } from '../accounts/shown-invitation.js';
import { listOrganizations } from '../accounts/store.js';
import {
  isUnsubscribed,
  type Subscriber,
  subscribeAgain,
  type UnsubscribeLinks,
  unsubscribe,
} from '../alerts/unsubscribe.js';
import { NoSuchRoute, PublicError } from '../platform/errors.js';
import { createRouter } from '../platform/http/router.js';
import { toOrganizationId } from '../platform/ids.js';
import type { Postgres } from '../platform/postgres/client.js';
import { toNextPath } from '../sign-in/next-path.js';
import { redeemSignInLink, requireLinkedEmail, SIGN_IN_LINK_PATH } from '../sign-in/sign-in-links.js';
import type { Assets } from './assets.js';
import type { ConsoleAssets } from './console-assets.js';
import { type ConsoleData, renderConsole } from './console-page.js';
import { type InvitationReader, invitationPage } from './invitation.js';
import { landingPage } from './landing.js';
import { type Page, renderPage } from './layout.js';
import { loginPage } from './login.js';
import { missingPage, problemPage } from './problem.js';
import { signInLinkPage } from './sign-in-link.js';
import { unsubscribePage } from './unsubscribe.js';
import { welcomeText } from './welcome-text.js';

export interface PagesDeps {
  readonly postgres: Postgres;
  readonly sessions: SessionGuards;
  /** Name of the identity provider; undefined when sign-in is not configured. */
  readonly signInLabel: string | undefined;
  readonly assets: Assets;
  readonly console: ConsoleAssets;
  readonly queryWithinMs: number;
  /** Whether the service has a mail server. */
  readonly hasMail: boolean;
  readonly unsubscribeLinks: UnsubscribeLinks;
}

const CONSOLE_PATHS = [
  '/start',
  '/projects/:projectID',
  '/projects/:projectID/:screen',
  '/projects/:projectID/:screen/:item',
] as const;

export function createPagesRouter(deps: PagesDeps): Router {
  const { postgres, sessions, assets } = deps;
  const { publicUrl } = sessions;
  const router = createRouter();
  const show = (res: Response, page: Page) => sendPage(res, renderPage(page, assets));
  const showConsole = async (req: Request, res: Response, session: Person): Promise<void> => {
    // The page has the projects of all organizations of the person.
    await countRequest(req, session, sessions);
    sendPage(res, renderConsole(await readConsoleData(session, deps), deps.console, assets));
  };

  router.get('/', async (req, res) => {
    res.vary('Accept').vary('Cookie');
    // Clients that accept anything, such as curl, get plain text.
    if (req.accepts(['text', 'html']) !== 'html') {
      res.type('text').send(welcomeText(publicUrl));
      return;
    }
    const session = await findPerson(postgres, { req, res, publicUrl });
    if (session === undefined) show(res, landingPage());
    else await showConsole(req, res, session);
  });

  // The console decides what an address below shows, and whether the person may see it.
  for (const path of CONSOLE_PATHS) {
    router.get(path, async (req, res) => {
      const session = await findPerson(postgres, { req, res, publicUrl });
      if (session === undefined) res.redirect(`/login?next=${encodeURIComponent(req.path)}`);
      else await showConsole(req, res, session);
    });
  }

  router.get('/login', async (req, res) => {
    const next = toNextPath(req.query.next);
    if ((await findPerson(postgres, { req, res, publicUrl })) !== undefined) {
      res.redirect(next);
      return;
    }
    const startUrl = new URL(`/auth/idp?next=${encodeURIComponent(next)}`, publicUrl).href;
    show(res, loginPage({ label: deps.signInLabel, startUrl }));
  });

  const showInvitation = async (res: Response, req: Request, session: Person | undefined): Promise<void> => {
    const link = await findInvitationLink(postgres, String(req.params.token));
    if (link.state !== 'open' && res.statusCode === 200) res.status(404);
    const reader = session && (await readerOf(session, link, postgres));
    show(res, invitationPage({ path: req.path, link, reader }));
  };
  router.get('/invitations/:token', async (req, res) => {
    await showInvitation(res, req, await findPerson(postgres, { req, res, publicUrl }));
  });
  router.post('/invitations/:token', ...requireSession(postgres, sessions), async (req: Request, res: Response) => {
    try {
      const organizationId = await acceptInvitation(postgres, String(req.params.token), personOf(res));
      // Not /, which leads to the project that was open last: most people have one of their own.
      const [project] = await listProjects(postgres, organizationId, 'member');
      res.redirect(303, project === undefined ? '/' : `/projects/${project.id}`);
    } catch (error) {
      if (!(error instanceof PublicError) || req.accepts(['json', 'html']) !== 'html') throw error;
      // The page says why, and what to do instead.
      await showInvitation(res.status(error.status), req, personOf(res));
    }
  });

  router.get(`${SIGN_IN_LINK_PATH}/:token`, async (req, res) => {
    const email = await requireLinkedEmail(postgres, String(req.params.token));
    show(res, signInLinkPage({ path: req.path, email }));
  });
  router.post(`${SIGN_IN_LINK_PATH}/:token`, refuseCrossOrigin(publicUrl), async (req, res) => {
    const personId = await redeemSignInLink(postgres, String(req.params.token));
    const previous = readSessionToken(req, publicUrl);
    if (previous !== undefined) await endSession(postgres, previous);
    setSessionCookie(res, await createSession(postgres, personId), publicUrl);
    res.redirect(303, '/');
  });

  const subscriberOf = (req: Request): Subscriber => {
    const subscriber = deps.unsubscribeLinks.tryRead(String(req.params.token));
    if (subscriber === undefined) throw new PublicError('not_found', 'the link is not complete; copy it from the mail');
    return subscriber;
  };
  const showSubscription = async (req: Request, res: Response, subscriber: Subscriber): Promise<void> => {
    const { address } = subscriber;
    show(res, unsubscribePage({ path: req.path, address, isUnsubscribed: await isUnsubscribed(postgres, subscriber) }));
  };
  router.get('/unsubscribe/:token', async (req, res) => showSubscription(req, res, subscriberOf(req)));
  // Sent by the button, and by mail programs without a session; the body says nothing.
  router.post('/unsubscribe/:token', async (req, res) => {
    const subscriber = subscriberOf(req);
    await (req.query.again === 'true' ? subscribeAgain : unsubscribe)(postgres, subscriber);
    await showSubscription(req, res, subscriber);
  });
  return router;
}

/**
 * Answers errors of navigations as a page to browsers, except below /api; all other requests get
 * JSON.
 */
export function showProblems(assets: Assets): ErrorRequestHandler {
  const showProblem: ErrorRequestHandler = (error, req, res, next) => {
    const isNavigation =
      req.method === 'GET'
        ? !/^\/api\//.test(req.path)
        : /^\/(?:auth|invitations|oauth|sign-in|unsubscribe)\//.test(req.path);
    const isPage = isNavigation && req.accepts(['json', 'html']) === 'html';
    if (!isPage || res.headersSent || !(error instanceof PublicError)) return next(error);
    if (error.kind === 'rate_limited') res.set('Retry-After', '60');
    const page = error instanceof NoSuchRoute ? missingPage : problemPage(error.message);
    sendPage(res.status(error.status), renderPage(page, assets));
  };
  return showProblem;
}

function sendPage(res: Response, text: string): void {
  res.type('html').send(text);
}

async function readerOf(session: Person, link: InvitationLink, postgres: Postgres): Promise<InvitationReader> {
  const membership =
    link.state === 'unknown' ? undefined : await findMembership(postgres, session.personId, link.organizationId);
  const { email, emailVerified: isVerified } = session;
  return { name: nameOf(session), email: email ?? undefined, isVerified, isMember: membership !== undefined };
}

async function readConsoleData(
  session: Person,
  { postgres, sessions, queryWithinMs, hasMail }: PagesDeps,
): Promise<ConsoleData> {
  const organizations = await listOrganizations(postgres, session.personId);
  const withProjects = organizations.map(async (organization) => {
    const { id, role } = organization;
    return { ...organization, projects: await listProjects(postgres, toOrganizationId(id), role) };
  });
  const demos = await listDemos(
    postgres,
    organizations.map(({ id }) => id),
  );
  const { publicUrl } = sessions;
  return {
    ...{ personId: session.personId, person: nameOf(session), demos, publicUrl, queryWithinMs, hasMail },
    organizations: await Promise.all(withProjects),
  };
}
