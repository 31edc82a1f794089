import { hasLaterContexts, readContexts } from './contexts.ts'
import type { AgentDocument, AgentFault, AgentPrompt, AgentReading, Json } from './document-types.ts'
import { readDocumentHints, readLanguages, readRewrites } from './languages.ts'
import { paramsOf, readParams, readTurns, warnAboutParams } from './params.ts'
import { type PomFormat, readPrompt } from './prompt.ts'
import { Findings, Section } from './section.ts'
import { readSwaig } from './swaig.ts'
import { readTarget } from './targets.ts'
import { isObject, isPlaceholder, sizeFault } from './values.ts'

/** Maximum size of a document. */
const limits = { characters: 2_000_000, values: 100_000, depth: 64 }

const failed = (path: string, message: string): AgentReading => ({
  faults: [{ path, message }],
  warnings: [],
})

/** Parts of a document that must be objects, or absent. */
const objects = ['post_prompt', 'params', 'global_data', 'multilingual'] as const

/** Parts of a document that must be lists, or absent. */
const lists = ['languages', 'pronounce'] as const

const typeFaults = (value: Json): readonly AgentFault[] => {
  const isAbsent = (key: string): boolean => value[key] === undefined || value[key] === null
  const wrong = (keys: readonly string[], isRight: (part: unknown) => boolean, message: string) =>
    keys
      .filter((key) => !isAbsent(key) && !isPlaceholder(value[key]) && !isRight(value[key]))
      .map((key) => ({ path: `/${key}`, message }))
  const isText = (part: unknown): boolean => typeof part === 'string'
  return [
    ...wrong(['prompt', 'post_prompt'], (part) => isObject(part) || isText(part), 'must be an object'),
    ...wrong(objects.slice(1), isObject, 'must be an object'),
    ...wrong(lists, Array.isArray, 'must be a list'),
    ...wrong(['hints'], (part) => Array.isArray(part) || isText(part), 'must be a list'),
    ...wrong(['SWAIG'], (part) => Array.isArray(part) || isObject(part), 'must be an object'),
  ]
}

/** Returns a prompt as a section; a text stands for its object. Undefined if absent. */
const promptSection = (document: Section, key: string): Section | undefined => {
  const value = document.get(key)
  const content = typeof value === 'string' ? { text: value } : value
  return isObject(content) ? new Section(content, document.at(key), document.findings) : undefined
}

const readPostPrompt = (document: Section, format: PomFormat): AgentPrompt | undefined => {
  const section = promptSection(document, 'post_prompt')
  const prompt = section && readPrompt(section, format)
  section?.warnUnknown()
  return prompt?.text ? prompt : undefined
}

const reportKeys = { user: ['post_prompt_auth_user'], password: ['post_prompt_auth_password'] }

const readReport = (
  document: Section,
  format: PomFormat,
): Pick<AgentDocument, 'postPrompt' | 'postPromptUrl'> => {
  const postPrompt = readPostPrompt(document, format)
  const postPromptUrl = readTarget(document, 'post_prompt_url', reportKeys)
  return { ...(postPrompt && { postPrompt }), ...(postPromptUrl && { postPromptUrl }) }
}

/** Reads the prompt with its contexts. A fault if the agent would have nothing to do. */
const readBehaviour = (document: Section, format: PomFormat): Pick<AgentDocument, 'prompt' | 'contexts'> => {
  const section = promptSection(document, 'prompt')
  if (!section) {
    document.findings.fault(document.at('prompt'), 'must be an object with text, pom or contexts')
    return { prompt: { text: '', settings: {} }, contexts: new Map() }
  }
  const prompt = readPrompt(section, format)
  const contexts = readContexts(section, format)
  const isEmpty = prompt.text.trim() === '' && contexts.size === 0
  if (isEmpty && !hasLaterContexts(section))
    document.findings.fault(section.path, 'must have text, pom or contexts')
  section.warnUnknown()
  return { prompt, contexts }
}

const readSections = (document: Section): AgentDocument => {
  const params = paramsOf(document)
  const format: PomFormat = params.choice('pom_format', ['markdown', 'xml']) ?? 'markdown'
  const behaviour = readBehaviour(document, format)
  const { languages, pronounce, recogniser } = readLanguages(document)
  const read = readParams(params)
  const maxTokens = params.number('max_response_tokens', [0, 16_384])
  const { settings } = behaviour.prompt
  const swaig = readSwaig(document, params.boolean('function_wait_for_talking') ?? false)
  const turns = readTurns(params, behaviour.prompt, read.name)
  warnAboutParams(params)
  return {
    ...behaviour,
    prompt: { ...behaviour.prompt, settings: { ...(maxTokens && { maxTokens }), ...settings } },
    ...readReport(document, format),
    params: { ...(recogniser && { recogniser }), ...read },
    turns,
    globalData: document.object('global_data') ?? {},
    ...readDocumentHints(document),
    languages,
    pronounce: [...readRewrites(document), ...pronounce],
    ...swaig,
  }
}

/**
 * Reads the `ai` object of a script, an XML document, a request or a resource. Numbers and truths may be
 * texts. Faults are only those that keep an agent from running; every other doubtful part is a warning, and
 * has its default. Placeholders in texts stay. Never throws; the time is linear in the document's size.
 */
export const readAgent = (value: unknown): AgentReading => {
  if (!isObject(value)) return failed('', 'must be an object')
  const size = sizeFault(value, limits)
  if (size !== undefined) return failed('', size)
  const wrong = typeFaults(value)
  if (wrong.length > 0) return { faults: wrong, warnings: [] }
  const findings = new Findings()
  const section = new Section(value, '', findings)
  const document = readSections(section)
  section.warnUnknown()
  const { faults, warnings } = findings
  return { ...(faults.length === 0 && { document }), faults, warnings }
}
