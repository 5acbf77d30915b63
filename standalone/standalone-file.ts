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

export interface FirstProject {
  readonly file: StandaloneFile;
  /** Whether this start created the project. */
  readonly isNew: boolean;
}
