// Where a new project goes, and a project that leaves a drained shard.

export interface ShardLoad {
  readonly id: number;
  /** Events of the last weeks; a project that has sent none counts as one event. */
  readonly events: number;
}

/** The one with the fewest events, and of equals the first. Undefined when there is none. */
export function chooseShard(loads: readonly ShardLoad[]): number | undefined {
  let chosen: ShardLoad | undefined;
  for (const load of loads) {
    const isEmptier =
      chosen === undefined || load.events < chosen.events || (load.events === chosen.events && load.id < chosen.id);
    if (isEmptier) chosen = load;
  }
  return chosen?.id;
}
