/** A method, or one parameter of it, and how far the gateway has it. What it means stands with the method itself. */
export interface ScriptRow {
  readonly method: string
  /** Absent: the row is about the method itself. */
  readonly parameter?: string
  /** In words; empty: none. */
  readonly fallback: string
  /** `done`, or what is different or not there. */
  readonly state: string
  /** The file of the test, below handlers/script/methods, and its title. */
  readonly test: readonly [file: string, title: string]
}

/** The state of a parameter that is accepted and warned of. */
export const noEffect = 'no effect, and a warning'

/** Parameter: its default, the test's title, and the state where that is not `done`. */
type Parameters = Readonly<Record<string, readonly [fallback: string, title: string, state?: string]>>

/** The rows of one method: its own, and those of its parameters. */
export const rowsOf = (
  method: string,
  file: string,
  own: readonly [title: string, state?: string],
  parameters: Parameters = {},
): readonly ScriptRow[] => {
  const [title, state = 'done'] = own
  return [
    { method, fallback: '', state, test: [file, title] },
    ...Object.entries(parameters).map(
      ([parameter, [fallback, its, how = 'done']]): ScriptRow => ({
        method,
        parameter,
        fallback,
        state: how,
        test: [file, its],
      }),
    ),
  ]
}
