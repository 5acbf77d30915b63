// DATA_DIR/standalone.json: the address and the keys of the first project for scripts. Readable by its owner only, and
// brought up to date at each start: a key that is rotated meanwhile is right in the database alone.

export interface StandaloneFile {
  readonly url: string;
  readonly organization_id: string;
  readonly project_id: string;
  readonly public_key: string;
  /** Null when SECRET_KEY_BASE has changed since the key was made. */
  readonly secret_key: string | null;
  /** Null after a rotation: only a digest of it is stored. */
  readonly admin_key: string | null;
}

export interface FirstProject {
  readonly file: StandaloneFile;
  /** Made by this start. */
  readonly isNew: boolean;
}
