/** A wrong configuration, with every line that a check reports. */
export interface BadFile {
  /** Mistake, as a noun phrase. */
  readonly mistake: string
  readonly text: string | Uint8Array
  /** Environment; default none. */
  readonly env?: Readonly<Record<string, string>>
  /** Other files in the folder of the configuration, by name. */
  readonly files?: Readonly<Record<string, string>>
  /** Faults as `describeFault` writes them, without the folder. */
  readonly faults: readonly string[]
  /** Whether the page of errors shows the file; default true for a text. */
  readonly isExample?: boolean
}
