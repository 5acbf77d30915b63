// Table of fixed bounds on work in progress, as data; those that operators may change are settings.
// docs/LIMITS.md shows both: what bounds what, by how much, and what happens to the excess. A test
// compares it with this table and with the defaults of the settings.

const KIB = 1024;
const MIB = 1024 * KIB;

export const BOUNDS = {
  /**
   * Largest body that is parsed in the event loop. The slowest bodies of this size take about
   * 30 ms; a thread costs ordinary ones half a millisecond more than it saves.
   */
  loopBodyBytes: 128 * KIB,
  /**
   * States of regular expressions of drop rules, times the characters that they may read: at most
   * 5 ms at the measured 0.2 µs. More is matched in a thread.
   */
  ruleStepsInLoop: 25_000,
  /** The user agents of events of this size are parsed in a few milliseconds. */
  ruleAgentBytesInLoop: 4 * KIB,
  /** Parsing this much takes a millisecond or more, so larger bodies take turns. */
  turnBodyBytes: 32 * KIB,
  /** Size at which a commit is full, so that a job is never much larger than one request may be. */
  ingestCommitBytes: 4 * MIB,
  /** Smaller, because a worker holds many identify jobs at a time. */
  identifyCommitBytes: 256 * KIB,
  /**
   * A project whose backlog exceeds this, including the new request, has jobs of its own: about a
   * thousand small events, or the identify calls of about a second.
   */
  ingestPromptBytes: 512 * KIB,
  identifyPromptBytes: 128 * KIB,
  /** Bodies of all other requests that a process holds: those of queries, documents, settings. */
  heldBodyBytes: 64 * MIB,
  /**
   * Answers to queries until their clients have read them: one owner may have three of 64 MiB, or
   * the largest, which has twice as much.
   */
  heldAnswerBytes: 256 * MIB,
  /**
   * How long a client may take nothing of an answer that waits for it. Buffers of the system show
   * the progress of a slow client in steps of up to a megabyte.
   */
  unreadAnswerMs: 5 * 60_000,
  /**
   * Bytes of the files of an import in the console after decompression, as a multiple of
   * IMPORT_UPLOAD_BYTES_MAX. Exports of JSON and CSV have 10 to 30 times as many.
   */
  importDecompression: 50,
  /** Answers of /track that wait until their events are counted, of a process. */
  trackWaits: 200,
  trackWaitMs: 10_000,
  /**
   * Concurrent lookups: behind a flood of distinct keys, a revoked key would otherwise stay valid.
   */
  keyLookups: 1000,
  /** How long a request waits for a connection to PostgreSQL, and for each of its statements. */
  postgresAnswerMs: 10_000,

  /** Tasks that wait for a thread: of all owners, and of one. */
  threadTasksWaiting: 512,
  threadTasksWaitingPerOwner: 64,
  /**
   * The largest document or body takes a second of CPU at most; the rest is for overloaded
   * machines.
   */
  threadTaskMs: 15_000,
  threadMemoryBytes: 256 * MIB,

  /**
   * A batch fills from jobs that wait for it together: with a commit every 3 ms, about 170 arrive
   * within the longest flush delay of 500 ms.
   */
  ingestJobs: 200,
  /**
   * Payloads in process, of a shard and of all, which have equal parts. The rows and blocks built
   * from them are a few times as large. A batch and the one that collects meanwhile share the part,
   * so a smaller part means smaller inserts.
   */
  ingestShardPayloadBytes: 32 * MIB,
  ingestPayloadBytes: 128 * MIB,
  /**
   * Under load a batch grows while the previous one is being stored; beyond this many full batches,
   * jobs wait in Redis instead of in memory.
   */
  ingestBatches: 4,
  /** Months in one insert: each is a part. More would delay the inserts that wait for it. */
  insertMonths: 3,
  /** Jobs that wait during a transaction share the next one. */
  identifyJobs: 100,
  /** One statement writes them all. */
  identifyCalls: 500,
  /** Stored size of the profiles that one transaction changes, or that one projection copies. */
  identifyProfileBytes: 4 * MIB,
  identifyBatches: 4,
  /**
   * The catalog of a project. A field with more values, or with a longer one, is not listed with
   * its values; nor is one that would exceed the values of all fields.
   */
  catalogEvents: 2000,
  catalogKeys: 5000,
  catalogFieldValues: 1000,
  catalogValues: 20_000,
  catalogValueLength: 128,
  /** Names that a worker keeps in memory, of the projects that it has written last. */
  catalogNamesHeld: 500_000,
  /** Checks of alerts, and messages, that a worker runs at once; of a project in all workers. */
  alertChecks: 4,
  alertChecksPerProject: 2,
  alertMessages: 4,
  alertMessagesPerProject: 2,
  /** Reports that a worker runs at once; of a project in all workers. */
  reportRuns: 2,
  reportRunsPerProject: 1,
  /**
   * Queries of a report that are run, and characters of its content; later cards are only named.
   */
  reportQueries: 50,
  reportCharacters: 100_000,
  reportMs: 300_000,
  /** From the first lookup to the status. A receiver that is slower gets the message again. */
  webhookMs: 10_000,
  /** Mails that a worker sends at once, each over a connection of its own. */
  mails: 4,
  /**
   * An answer larger than this is not kept; a kept one is forgotten after this time, because it may
   * show people who are erased.
   */
  keptAnswerBytes: MIB,
  keptAnswerMs: 5 * 60_000,
  erasureProjects: 4,
  erasureBatch: 100,
  deletionProjects: 3,
} as const;
