// Data that a newer version of the service has migrated: there is no way back to this one.

/** Its message is shown at a terminal, without a trace. */
export class NewerData extends Error {
  override readonly name = 'NewerData';

  constructor(store: string, migrations: readonly string[]) {
    super(
      `${store} has data of a newer version of the service (this one does not know ${migrations.join(', ')}): run that version, or restore a backup with this one into an empty DATA_DIR`,
    );
  }
}
