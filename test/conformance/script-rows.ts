/**
 * A method or one of its parameters, and the extent of its support. The method itself documents the meaning.
 */
export interface ScriptRow {
  readonly method: string
  /** Absent for the method itself. */
  readonly parameter?: string
  /** Default value in words; empty if there is no default. */
  readonly fallback: string
  /** `done`, or the differences. */
  readonly state: string
  /** File below `handlers/script/methods`, and title of the test. */
  readonly test: readonly [file: string, title: string]
}

/** State of a parameter that is accepted with a warning. */
export const noEffect = 'no effect, and a warning'

/** Default, title of the test, and state if not `done`, by parameter. */
type Parameters = Readonly<Record<string, readonly [fallback: string, title: string, state?: string]>>

/** Returns the rows of a method: its own, and those of its parameters. */
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
