// Fair order of claims between owners: an owner is the person who created the organization of a
// project; without that person, the organization. The owner with the fewest running claims is
// next; of equal ones, the owner that this process served longest ago; then the row that is due
// first. PostgreSQL counts the running claims of all workers. A project has a limit of them; an
// owner has none, because one company may own all projects of a service.

/** Memory of a process; the owner that is forgotten was served longest ago, and is next. */
const OWNERS_MAX = 1000;

/** Owner of the project `p` and its organization `o`. */
export const OWNER = 'coalesce(o.created_by, o.id)';

/** Order of rows `due`, with the claims in `running`; the parameter is `OwnerTurns.served`. */
export const BY_TURNS = `(SELECT count(*) FROM running WHERE running.owner = ${OWNER}),
  array_position(?::uuid[], ${OWNER}) NULLS FIRST`;

/** Whether the project of `due` has fewer of the claims in `running` than the parameter. */
export const HAS_PLACE = '(SELECT count(*) FROM running WHERE running.project_id = due.project_id) < ?';

export class OwnerTurns {
  // Owners in the order of their last turns.
  readonly #served = new Set<string>();

  /** The owner that was served longest ago is first. */
  get served(): string[] {
    return [...this.#served];
  }

  take(owner: string): void {
    this.#served.delete(owner);
    this.#served.add(owner);
    const [first] = this.#served;
    if (this.#served.size > OWNERS_MAX && first !== undefined) this.#served.delete(first);
  }
}
