import { isOfConversation } from '../../agent/values.ts'
import { asText } from '../../common/as-text.ts'
import { partsOf } from '../../common/placeholders.ts'
import { VerbFailed } from '../../verbs.ts'
import { codes } from '../codes.ts'
import type { ScriptContext } from '../method.ts'

/** Keys whose values have placeholders of their own, which functions replace. */
const own: ReadonlySet<string> = new Set(['data_map', 'parameters', 'argument'])

/** Maximum depth of an agent's document. */
const maxDepth = 64

/** Maximum length of all values that replace placeholders, in characters: that of a whole document. */
const maxInserted = 2_000_000

/**
 * Replaces the placeholders of an agent's document by the script's variables. Those of the conversation stay.
 * One that cannot be evaluated becomes an empty text, with a warning: the agent can do without it. Throws
 * {@link VerbFailed} if the values are too long together.
 */
export const resolveAgent = (value: unknown, script: ScriptContext, path: string): Promise<unknown> =>
  new Resolution(script, path).resolve(value)

/** One pass over a document. */
class Resolution {
  readonly #script: ScriptContext
  readonly #path: string
  #left = maxInserted

  constructor(script: ScriptContext, path: string) {
    this.#script = script
    this.#path = path
  }

  async resolve(value: unknown, depth = 0): Promise<unknown> {
    if (typeof value === 'string') return this.#text(value)
    if (typeof value !== 'object' || value === null || depth > maxDepth) return value
    const entries: [string, unknown][] = []
    for (const [key, item] of Object.entries(value)) {
      const isOwn = !Array.isArray(value) && own.has(key)
      entries.push([key, isOwn ? item : await this.resolve(item, depth + 1)])
    }
    return Array.isArray(value) ? entries.map(([, item]) => item) : Object.fromEntries(entries)
  }

  async #text(text: string): Promise<unknown> {
    if (!/[$%@]\{/.test(text)) return text
    const parts = partsOf(text)
    const isLate = (part: (typeof parts)[number]) => 'expression' in part && isOfConversation(part.expression)
    // A text that is one placeholder keeps its type, and functions have placeholders inside.
    const isWhole = parts.length === 1 || text.includes('@{')
    if (isWhole && !parts.some(isLate)) {
      const value = await this.#resolved(text)
      this.#take(asText(value))
      return typeof value === 'string' ? inert(value) : value
    }
    const pieces: string[] = []
    for (const part of parts) {
      if ('literal' in part) pieces.push(part.literal)
      else if (isLate(part)) pieces.push(`\${${part.expression}}`)
      else pieces.push(inert(this.#take(asText(await this.#resolved(`\${${part.expression}}`)))))
    }
    return pieces.join('')
  }

  #take(text: string): string {
    this.#left -= text.length
    if (this.#left < 0)
      throw new VerbFailed(codes.parameterInvalid, 'The values of the placeholders are too long together.')
    return text
  }

  async #resolved(text: string): Promise<unknown> {
    try {
      return await this.#script.variables.resolve(text)
    } catch (error) {
      if (!(error instanceof VerbFailed)) throw error
      this.#script.warn(error.code, error.message, this.#path)
      return ''
    }
  }
}

/**
 * Returns a value without placeholders. The agent fills its texts once more: a caller's display name such as
 * `${global_data.pin}` must not read data.
 */
const inert = (text: string): string => text.replaceAll(/([$%@])\{/g, '$1 {')
