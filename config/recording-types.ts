/** Recordings of calls. */
export interface RecordingsConfig {
  /** Absolute; default `recordings` in the data folder. */
  readonly folder?: string
  /** Older ones are removed; absent: kept. */
  readonly keepMs?: number
  /** What is beyond is removed, oldest first; absent: no limit. */
  readonly maxBytes?: number
  /** With fewer bytes free on the disk, no new recording begins; default 1 GiB. */
  readonly minFree: number
  /** How long a link works; default 24 h. */
  readonly linkAgeMs: number
}
