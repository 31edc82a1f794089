/** A piece of JSON Schema. */
export type Schema = Readonly<Record<string, unknown>>

/** How one method is written. */
export interface MethodSpec {
  readonly description: string
  readonly properties: Readonly<Record<string, Schema>>
  readonly required?: readonly string[]
  /** Exactly one of these must be there. */
  readonly exactlyOne?: readonly string[]
  /** Lists of lists, and the most items that theirs may have together. */
  readonly mostTogether?: Readonly<Record<string, number>>
  /** The parameter that a value stands for which is not an object. */
  readonly shorthand?: string
  /** Parameters of the language that are accepted, and warned of, because they change nothing here. */
  readonly withoutEffect?: readonly string[]
}

/** Smallest and largest value of each parameter that is a number. */
export const ranges: Readonly<Record<string, readonly [min: number, max: number]>> = {
  volume: [-40, 40],
  max_digits: [1, 128],
  digit_timeout: [0.1, 600],
  initial_timeout: [0, 600],
  end_silence_timeout: [0, 600],
  max_length: [1, 86_400],
  speech_timeout: [0.1, 600],
  speech_end_timeout: [0.1, 60],
  timeout: [1, 600],
  max_duration: [1, 86_400],
  duration: [-1, 86_400_000],
}

const placeholderPattern = '[$%]\\{'

/** A number, or a text that becomes one. `title` completes the sentence "must be …" in faults. */
export const number = (
  name: string,
  description: string,
  [minimum, maximum]: readonly [min: number, max: number] = ranges[name] ?? [0, 0],
): Schema => {
  return {
    title: `a number from ${minimum} to ${maximum}`,
    description,
    anyOf: [
      { type: 'number', minimum, maximum },
      { type: 'string', pattern: `^-?[0-9]+(\\.[0-9]+)?$|${placeholderPattern}` },
    ],
  }
}

/** True or false, or a text that becomes one of them. */
export const boolean = (description: string): Schema => ({
  title: 'true or false',
  description,
  anyOf: [{ type: 'boolean' }, { type: 'string', pattern: `^(true|false)$|${placeholderPattern}` }],
})

/** Any text. */
export const text = (description: string, title = 'a text'): Schema => ({
  title,
  description,
  type: 'string',
})

/** A text that fits a pattern, or has placeholders. */
export const pattern = (of: string, description: string, title: string): Schema => ({
  ...text(description, title),
  pattern: `${of}|${placeholderPattern}`,
})
