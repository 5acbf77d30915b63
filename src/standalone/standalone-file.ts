// DATA_DIR/standalone.json: what scripts need to know of the running stack.

export interface StandaloneFile {
  readonly url: string;
  readonly organization_id: string;
  readonly project_id: string;
  readonly public_key: string;
  readonly secret_key: string;
  readonly admin_key: string;
}
