/** JSON Schema of a value. Its `title` completes the sentence "must be …". */
export type Schema = Readonly<Record<string, unknown>>

/** Schema of a number, also as text. Another value is ignored with a warning. */
export const number = (description: string): Schema => ({ title: 'a number', description })

/** Schema of a truth, also as text. */
export const truth = (description: string): Schema => ({ title: 'true or false', description })

/** Schema of a text. */
export const text = (description: string): Schema => ({ title: 'a text', description })

/** Schema of an http(s) URL, which may contain credentials. */
export const url = (description: string): Schema => ({ title: 'an http(s) URL', description })

/** Schema of a list of texts, or of one text. */
export const texts = (description: string): Schema => ({ title: 'a list of texts', description })

/** Schema of phrases by language. */
export const phrases = (subject: string): Schema => ({
  title: 'a list of texts, or an object of them',
  description: `${subject}: a list, or lists by language code; default serves the others.`,
})

/** Types of JSON: a value of another type than the expected one is ignored with a warning. */
const anyType = ['object', 'array', 'string', 'number', 'boolean', 'null']

/** Text with a placeholder, which becomes a value of the right type when the script runs. */
const placeholder = '[$%]\\{'

/** Whether a schema enforces its type. */
export interface Strictness {
  /** Accepted types; default all. Without `string` among them, a text must have a placeholder. */
  readonly types?: readonly ('object' | 'array' | 'null' | 'string')[]
}

const typeOf = ({ types }: Strictness): Schema => {
  if (!types) return { type: anyType }
  return types.includes('string') ? { type: types } : { type: [...types, 'string'], pattern: placeholder }
}

/** Schema of a list. */
export const list = (description: string, items?: Schema, strictness: Strictness = {}): Schema => ({
  title: 'a list',
  description,
  ...typeOf(strictness),
  ...(items && { items }),
})

/** Schema of an object with known keys; others are accepted. */
export const object = (
  description: string,
  properties: Readonly<Record<string, Schema>>,
  strictness: Strictness = {},
): Schema => ({
  title: 'an object',
  description,
  ...typeOf(strictness),
  ...(Object.keys(properties).length > 0 && { properties }),
})

/** Schema of an object without known keys. */
export const anyObject = (description: string, strictness: Strictness = {}): Schema =>
  object(description, {}, strictness)
