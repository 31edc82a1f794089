import { asText } from '../../common/as-text.ts'
import { partsOf } from '../../common/placeholders.ts'
import { VerbFailed } from '../../verbs.ts'
import type { ScriptContext } from '../method.ts'

/** Keys whose values have placeholders of their own, which functions replace. */
const own: ReadonlySet<string> = new Set(['data_map', 'parameters', 'argument'])

/** Placeholder of a value that changes during the conversation, which the agent replaces. */
const late = /^(?:[a-z]+:)*(?:global_data|step_history|meta_data|args|ai_session_id)\b/

/** Maximum depth of an agent's document. */
const maxDepth = 64

/**
 * Replaces the placeholders of an agent's document by the script's variables. Those of the conversation stay.
 * One that cannot be evaluated becomes an empty text, with a warning: the agent can do without it.
 */
export const resolveAgent = async (
  value: unknown,
  script: ScriptContext,
  path: string,
  depth = 0,
): Promise<unknown> => {
  if (typeof value === 'string') return resolveText(value, script, path)
  if (typeof value !== 'object' || value === null || depth > maxDepth) return value
  const entries: [string, unknown][] = []
  for (const [key, item] of Object.entries(value)) {
    const isOwn = !Array.isArray(value) && own.has(key)
    entries.push([key, isOwn ? item : await resolveAgent(item, script, path, depth + 1)])
  }
  return Array.isArray(value) ? entries.map(([, item]) => item) : Object.fromEntries(entries)
}

const resolveText = async (text: string, script: ScriptContext, path: string): Promise<unknown> => {
  if (!/[$%@]\{/.test(text)) return text
  const parts = partsOf(text)
  const isLate = (part: (typeof parts)[number]) => 'expression' in part && late.test(part.expression)
  // A text that is one placeholder keeps its type, and functions have placeholders inside.
  const isWhole = parts.length === 1 || text.includes('@{')
  if (isWhole && !parts.some(isLate)) return resolved(text, script, path)
  const pieces: string[] = []
  for (const part of parts) {
    if ('literal' in part) pieces.push(part.literal)
    else if (isLate(part)) pieces.push(`\${${part.expression}}`)
    else pieces.push(asText(await resolved(`\${${part.expression}}`, script, path)))
  }
  return pieces.join('')
}

const resolved = async (text: string, script: ScriptContext, path: string): Promise<unknown> => {
  try {
    return await script.variables.resolve(text)
  } catch (error) {
    if (!(error instanceof VerbFailed)) throw error
    script.warn(error.code, error.message, path)
    return ''
  }
}
