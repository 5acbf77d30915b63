// Type of DATA_DIR/standalone.json: the address and the keys of the first project, for scripts.
// Readable by its owner only, and updated at each start; a key rotated in between is current only
// in the database.

export interface StandaloneFile {
  readonly url: string;
  readonly organization_id: string;
  readonly project_id: string;
  readonly public_key: string;
  /** Null when SECRET_KEY_BASE has changed since the key was created. */
  readonly secret_key: string | null;
  /** Null after a rotation, because only its digest is stored. */
  readonly admin_key: string | null;
}

/** The keys of a first project from its creation until the start has announced them. */
export const begunFileOf = (standaloneFile: string): string => `${standaloneFile}.begun`;

export interface FirstProject {
  readonly file: StandaloneFile;
  /** Whether its keys have not been announced yet. */
  readonly isNew: boolean;
}
