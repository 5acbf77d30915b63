// Boot data: the person, organizations and projects that the server writes into the page
// (src/pages/console-page.ts), so that the first view needs no request.

export interface Project {
  readonly id: string;
  readonly name: string;
  readonly timezone: string;
  /** Loaded by the service, to look at. */
  readonly isDemo: boolean;
  readonly organizationId: string;
  readonly organizationName: string;
  readonly role: 'owner' | 'admin' | 'member';
}

export interface Organization {
  readonly id: string;
  readonly name: string;
  readonly role: Project['role'];
}

export interface Boot {
  readonly personId: string;
  readonly person: string;
  readonly publicUrl: string;
  /** The longest that the service takes for a query: until it begins, and then runs. */
  readonly queryWithinMs: number;
  /** Whether the service has a mail server. */
  readonly hasMail: boolean;
  readonly organizations: readonly Organization[];
  readonly projects: readonly Project[];
}

export function readBoot(): Boot {
  const content = document.querySelector<HTMLMetaElement>('meta[name="boot"]')?.content;
  if (content === undefined) throw new Error('the page has no data to start with');
  return JSON.parse(content) as Boot;
}

const RANK = { member: 0, admin: 1, owner: 2 } as const;

export const isAtLeast = (role: Project['role'], least: Project['role']): boolean => RANK[role] >= RANK[least];
