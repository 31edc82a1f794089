/** An element or one of its attributes, and the extent of its support. */
export interface Row {
  /** Path of the element from its verb, such as `Dial/Sip`. */
  readonly element: string
  /** Absent for the element itself. */
  readonly attribute?: string
  readonly means: string
  /** Default value in words; empty if there is no default. */
  readonly fallback: string
  /** `done`, or the differences. */
  readonly state: string
  /** File below `handlers/xml`, and title of the test. */
  readonly test: readonly [file: string, title: string]
}

/** Meaning, default, title of the test, and state if not `done`, by attribute. */
type Attributes = Readonly<
  Record<string, readonly [means: string, fallback: string, title: string, state?: string]>
>

/** Returns the rows of an element: its own, and those of its attributes. */
export const rowsOf = (
  element: string,
  file: string,
  own: readonly [means: string, title: string, state?: string],
  attributes: Attributes = {},
): readonly Row[] => {
  const [means, title, state = 'done'] = own
  return [
    { element, means, fallback: '', state, test: [file, title] },
    ...Object.entries(attributes).map(
      ([attribute, [meaning, fallback, its, how = 'done']]): Row => ({
        element,
        attribute,
        means: meaning,
        fallback,
        state: how,
        test: [file, its],
      }),
    ),
  ]
}
