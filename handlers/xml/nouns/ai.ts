import { readAgent } from '../../agent/document.ts'
import type { AgentFault, Json } from '../../agent/document-types.ts'
import type { ElementReader } from '../element-reader.ts'
import { codes } from '../faults.ts'
import type { XmlElement } from '../tree.ts'
import type { ElementKind } from '../verb.ts'

/** Settings of a prompt: attribute and key of the agent's document. */
const settings = {
  temperature: 'temperature',
  topP: 'top_p',
  confidence: 'confidence',
  bargeConfidence: 'barge_confidence',
  presencePenalty: 'presence_penalty',
  frequencyPenalty: 'frequency_penalty',
} as const

/** Attributes of a webhook. */
const webhook = ['webHookURL', 'webHookAuthUser', 'webHookAuthPass'] as const

const prompt: ElementKind = { name: 'Prompt', attributes: Object.keys(settings) }
const postPrompt: ElementKind = { name: 'PostPrompt', attributes: Object.keys(settings) }
const language: ElementKind = { name: 'Language', attributes: ['code', 'name', 'voice'] }
const languages: ElementKind = { name: 'Languages', attributes: [], children: [language] }
const defaults: ElementKind = { name: 'Defaults', attributes: webhook, children: 'markup' }
const agentFunction: ElementKind = {
  name: 'Function',
  attributes: ['name', 'argument', 'purpose', ...webhook],
  children: 'markup',
}
const swaig: ElementKind = { name: 'SWAIG', attributes: [], children: [defaults, agentFunction] }

/** Noun `AI`: a voice agent. */
export const ai: ElementKind = {
  name: 'AI',
  attributes: ['engine', 'voice', 'postPromptURL', 'postPromptAuthUser', 'postPromptAuthPassword', 'hints'],
  children: [prompt, postPrompt, languages, swaig],
}

/** Elements of the agent's document, by the JSON pointers of their values. */
class AgentElements {
  readonly #elements = new Map<string, ElementReader>()
  readonly #whole: ElementReader

  constructor(whole: ElementReader) {
    this.#whole = whole
  }

  /** Notes the element of a value. */
  from(reader: ElementReader, path: string): ElementReader {
    this.#elements.set(path, reader)
    return reader
  }

  /** Reports a finding at the element that it is about. */
  warn({ path, message }: AgentFault): void {
    let at = path
    while (at !== '' && !this.#elements.has(at)) at = at.slice(0, at.lastIndexOf('/'))
    const reader = this.#elements.get(at) ?? this.#whole
    const part = path.slice(at.length + 1)
    reader.warning(codes.schema, `${reader.element.name}: ${part && `${part} `}${message}.`)
  }
}

/** Reads the text of an element as it is written, without the blanks around it. */
const textOf = ({ children }: XmlElement): string =>
  children
    .filter((child) => typeof child === 'string')
    .join('')
    .trim()

/** Returns the texts of some attributes, by the keys of the agent's document. Absent ones are left out. */
const attributesOf = (reader: ElementReader, keys: Readonly<Record<string, string>>): Json =>
  Object.fromEntries(
    Object.entries(keys).flatMap(([attribute, key]) => {
      const value = reader.text(attribute)
      return value === undefined ? [] : [[key, value]]
    }),
  )

const readPrompt = (reader: ElementReader): Json => ({
  text: textOf(reader.element),
  ...attributesOf(reader, settings),
})

const readWebhook = (reader: ElementReader): Json => {
  const url = reader.link('webHookURL')
  const keys = { webHookAuthUser: 'web_hook_auth_user', webHookAuthPass: 'web_hook_auth_pass' }
  return { ...(url !== undefined && { web_hook_url: url }), ...attributesOf(reader, keys) }
}

/** Returns the metadata of a function: each child is a name with a value. */
const metaDataOf = (reader: ElementReader): Json =>
  Object.fromEntries(reader.elements().map((child) => [child.name, textOf(child)]))

const readFunction = (reader: ElementReader, shared: Json): Json => ({
  ...attributesOf(reader, { name: 'function', purpose: 'description', argument: 'argument' }),
  ...readWebhook(reader),
  meta_data: { ...shared, ...metaDataOf(reader) },
})

const readSwaig = (reader: ElementReader, parts: AgentElements): Json => {
  const [first] = reader.nestedOf([defaults])
  const common = first && parts.from(first.reader, '/SWAIG/defaults')
  const shared = common ? metaDataOf(common) : {}
  return {
    ...(common && { defaults: readWebhook(common) }),
    functions: reader
      .nestedOf([agentFunction])
      .map((each, i) => readFunction(parts.from(each.reader, `/SWAIG/functions/${i}`), shared)),
  }
}

/** Language tag at the begin of a voice such as `en-US-Neural2-J`. */
const voiceLanguage = /^[a-z]{2,3}-[A-Z]{2}\b/

/** Reads `Languages`; without one, the attributes `engine` and `voice` make a language. */
const readLanguages = (reader: ElementReader, parts: AgentElements): readonly Json[] => {
  const engine = reader.text('engine')
  const voice = reader.text('voice')
  // A name such as polly.Joanna has its engine.
  const spokenBy = (own: string | undefined): Json => ({
    ...(own !== undefined && { voice: own }),
    ...(engine !== undefined && !own?.includes('.') && { engine }),
  })
  const listed = reader.nestedOf([languages]).flatMap((each) => each.reader.nestedOf([language]))
  if (listed.length === 0)
    return [{ code: voiceLanguage.exec(voice ?? '')?.[0] ?? 'en-US', ...spokenBy(voice) }]
  return listed.map((each, i) => {
    const own = parts.from(each.reader, `/languages/${i}`)
    return {
      ...attributesOf(own, { code: 'code', name: 'name' }),
      ...spokenBy(own.text('voice') ?? voice),
    }
  })
}

const readReport = (reader: ElementReader, parts: AgentElements): Json => {
  const url = reader.link('postPromptURL')
  const [after] = reader.nestedOf([postPrompt])
  const keys = {
    postPromptAuthUser: 'post_prompt_auth_user',
    postPromptAuthPassword: 'post_prompt_auth_password',
  }
  return {
    ...(after && { post_prompt: readPrompt(parts.from(after.reader, '/post_prompt')) }),
    ...(url !== undefined && { post_prompt_url: url }),
    ...attributesOf(reader, keys),
  }
}

/**
 * Reads an `AI` as the document of a voice agent, in the language of the script method `ai`. Undefined, after
 * a warning, without a prompt.
 */
export const readAi = (reader: ElementReader): Json | undefined => {
  const parts = new AgentElements(reader)
  const [first] = reader.nestedOf([prompt])
  const [functions] = reader.nestedOf([swaig])
  const hints = reader.text('hints')
  if (!first || textOf(first.reader.element) === '') {
    reader.warning(codes.schema, 'AI needs a Prompt with a text; no agent talks to the caller.')
    return undefined
  }
  const document = {
    prompt: readPrompt(parts.from(first.reader, '/prompt')),
    ...readReport(reader, parts),
    languages: readLanguages(reader, parts),
    ...(hints !== undefined && { hints }),
    ...(functions && { SWAIG: readSwaig(functions.reader, parts) }),
  }
  const { faults, warnings } = readAgent(document)
  for (const finding of [...faults, ...warnings]) parts.warn(finding)
  return faults.length > 0 ? undefined : document
}
