/** One element, or one attribute of it, and how far the gateway has it. */
export interface Row {
  /** The element below the one in which it stands: `Dial/Sip`. */
  readonly element: string
  /** Absent: the row is about the element itself. */
  readonly attribute?: string
  readonly means: string
  /** In words; empty: none. */
  readonly fallback: string
  /** `done`, or what is different or not there. */
  readonly state: string
  /** The file of the test, below handlers/xml, and its title. */
  readonly test: readonly [file: string, title: string]
}

/** Attribute: what it means, its default, the test's title, and the state where that is not `done`. */
type Attributes = Readonly<
  Record<string, readonly [means: string, fallback: string, title: string, state?: string]>
>

/** The rows of one element: its own, and those of its attributes. */
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
