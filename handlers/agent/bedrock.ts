import { readAgent } from './document.ts'
import type { AgentReading, Json } from './document-types.ts'
import { Findings, Section } from './section.ts'
import { isObject, textOf } from './values.ts'

/** Languages of the voices. */
const voices: Readonly<Record<string, { readonly name: string; readonly code: string }>> = {
  tiffany: { name: 'English', code: 'en-US' },
  matthew: { name: 'English', code: 'en-US' },
  amy: { name: 'English', code: 'en-GB' },
  lupe: { name: 'Spanish', code: 'es-US' },
  carlos: { name: 'Spanish', code: 'es-US' },
}

const defaultVoice = 'matthew'

/** Keys of `ai` that `amazon_bedrock` has, too. */
const topKeys = [
  'post_prompt',
  'post_prompt_url',
  'post_prompt_auth_user',
  'post_prompt_auth_password',
] as const
const swaigKeys = ['functions', 'defaults'] as const

/** Returns an object with some of its keys, and warns about the others. */
const only = (section: Section, keys: readonly string[]): Json => {
  const entries = keys.flatMap((key) => (section.has(key) ? [[key, section.get(key)] as const] : []))
  for (const key of section.unknown()) section.warn(key, 'has no effect in amazon_bedrock')
  return Object.fromEntries(entries)
}

/** Returns the language that speaks with the voice of `voice_id`. */
const languageOf = (section: Section): Json => {
  const written = textOf(section.get('voice_id'))?.toLowerCase() ?? defaultVoice
  const isKnown = Object.hasOwn(voices, written)
  if (!isKnown) section.warn('voice_id', `must be one of ${Object.keys(voices).join(', ')}`)
  const voice = isKnown ? written : defaultVoice
  return { ...voices[voice], voice: `amazon.${voice}` }
}

/**
 * Reads the object of `amazon_bedrock` as a document of a voice agent. Its prompt has a voice, and no
 * contexts; its functions have no includes, native functions and servers. Never throws.
 */
export const readBedrock = (value: unknown): AgentReading => {
  const given = isObject(value) ? value.prompt : undefined
  const written = typeof given === 'string' ? { text: given } : given
  if (!isObject(value) || !isObject(written)) return readAgent(value)
  const findings = new Findings()
  const document = new Section(value, '', findings)
  const prompt = new Section(written, '/prompt', findings)
  const { voice_id: _, contexts, ...content } = written
  if (contexts !== undefined) prompt.warn('contexts', 'has no effect in amazon_bedrock')
  const swaig = document.section('SWAIG')
  document.get('prompt')
  const reading = readAgent({
    ...only(document, [...topKeys, 'params', 'global_data']),
    prompt: content,
    languages: [languageOf(prompt)],
    ...(swaig && { SWAIG: only(swaig, swaigKeys) }),
  })
  return { ...reading, warnings: [...findings.warnings, ...reading.warnings] }
}
