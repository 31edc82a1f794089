import type { Json } from '../../agent/document-types.ts'
import { isObject } from '../source.ts'

/** Keys of `SWAIG` that a bedrock document has. */
const functionKeys = ['functions', 'defaults']

const pick = (from: Json, keys: readonly string[]): Json =>
  Object.fromEntries(Object.entries(from).filter(([key]) => keys.includes(key)))

/**
 * Returns the document of `ai` that a document of `amazon_bedrock` stands for: its voice is a member of the
 * prompt, and it has neither contexts nor functions of other servers.
 */
export const bedrockDocument = (value: unknown): unknown => {
  if (!isObject(value)) return value
  const { prompt, SWAIG, ...rest } = value
  const kept = pick(rest, ['post_prompt', 'post_prompt_url', 'global_data', 'params'])
  const { voice_id: voice = 'matthew', ...text } = isObject(prompt) ? prompt : {}
  return {
    ...kept,
    ...(prompt !== undefined && { prompt: isObject(prompt) ? pick(text, bedrockPrompt) : prompt }),
    languages: [{ name: 'English', code: 'en-US', voice }],
    ...(SWAIG !== undefined && { SWAIG: isObject(SWAIG) ? pick(SWAIG, functionKeys) : SWAIG }),
  }
}

/** Keys of a prompt that a bedrock document has, besides its voice. */
const bedrockPrompt = ['text', 'pom', 'temperature', 'top_p', 'max_tokens']
