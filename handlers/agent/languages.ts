import type { AgentLanguage, AgentRewrite } from '../verbs.ts'
import type { Json } from './document-types.ts'
import { Section } from './section.ts'
import { isObject, textOf } from './values.ts'

/** Maximum number of languages, hints and rewritings of a document. */
const maxLanguages = 64
const maxHints = 1000
const maxRewrites = 1000
const maxPhrases = 50

/** Language of an agent whose document names none. */
const defaultLanguage: AgentLanguage = { name: 'English', code: 'en-US' }

/** English names of languages. Making them takes 100 ms, so they are made at the first use. */
let names: Intl.DisplayNames | undefined

/** Returns the English name of a language; the tag itself if it has none. */
const nameOf = (code: string): string => {
  names ??= new Intl.DisplayNames(['en'], { type: 'language', fallback: 'none' })
  try {
    return names.of(code) ?? code
  } catch {
    return code
  }
}

/** Joins `engine`, `voice` and `model` to a name such as `elevenlabs.rachel:turbo`. */
const voiceOf = (section: Section): string | undefined => {
  const engine = section.text('engine')
  const model = section.text('model')
  const voice = section.text('voice')
  if (voice === undefined) return engine
  const withEngine = engine && !voice.startsWith(`${engine}.`) ? `${engine}.${voice}` : voice
  return model && !withEngine.includes(':') ? `${withEngine}:${model}` : withEngine
}

const settingsOf = (section: Section): Json | undefined => {
  const settings = { ...section.object('params') }
  const emotion = section.get('emotion')
  const isAuto = (word: string, key: string): boolean => section.boolean(key) ?? emotion === word
  if (isAuto('auto', 'auto_emotion')) settings.auto_emotion = true
  if (isAuto('auto_speed', 'auto_speed')) settings.auto_speed = true
  if (typeof emotion === 'string' && emotion !== 'auto') settings.emotion ??= emotion
  return Object.keys(settings).length > 0 ? settings : undefined
}

/** Returns the tag of a language. A list of tags counts as its first one. */
const codeOf = (section: Section): string | undefined => {
  const codes = section.has('code') ? section.texts('code', 3) : section.texts('listen_language', 3)
  if ((codes?.length ?? 0) > 1)
    section.warn(
      'code',
      'has several languages, of which the first one counts; multilingual follows the caller',
    )
  return codes?.[0]?.trim() || undefined
}

const phrasesOf = (section: Section, key: string): readonly string[] | undefined => {
  const phrases = section.texts(key, maxPhrases)
  return phrases && phrases.length > 0 ? phrases : undefined
}

const fillersOf = (section: Section): Partial<AgentLanguage> => {
  const both = phrasesOf(section, 'fillers')
  const speechFillers = phrasesOf(section, 'speech_fillers') ?? both
  const functionFillers = phrasesOf(section, 'function_fillers') ?? both
  const turnFillers = phrasesOf(section, 'turn_fillers')
  return {
    ...(speechFillers && { speechFillers }),
    ...(functionFillers && { functionFillers }),
    ...(turnFillers && { turnFillers }),
  }
}

const readLanguage = (section: Section): readonly AgentLanguage[] => {
  const code = codeOf(section)
  if (code === undefined) {
    section.findings.warn(section.path, 'must have a code such as en-US')
    return []
  }
  const voice = voiceOf(section)
  const voiceSettings = settingsOf(section)
  const language = {
    name: section.text('name') ?? nameOf(code),
    code,
    ...(voice && { voice }),
    ...(voiceSettings && { voiceSettings }),
    ...fillersOf(section),
  }
  section.get('pronounce')
  section.warnUnknown()
  return [language]
}

/** Languages of a document, and the rewritings that they contain. */
export interface Languages {
  /** At least one; the first one is spoken at the beginning. */
  readonly languages: readonly AgentLanguage[]
  readonly pronounce: readonly AgentRewrite[]
  /** Recogniser that `multilingual` names. */
  readonly recogniser?: string
}

/** Phrases of one key of `multilingual` for a language; those of `default` serve every language. */
const multilingualPhrases = (section: Section, key: string, code: string): readonly string[] | undefined => {
  const phrases = section.phrases(key)
  if (!phrases) return undefined
  const own = Object.hasOwn(phrases, code) ? phrases[code] : undefined
  const found = own ?? (Object.hasOwn(phrases, 'default') ? phrases.default : undefined)
  return found && found.length > 0 ? found : undefined
}

const multilingualFillers = (section: Section, code: string): Partial<AgentLanguage> => {
  const speechFillers = multilingualPhrases(section, 'fillers', code)
  const functionFillers = multilingualPhrases(section, 'function_fillers', code)
  const turnFillers = multilingualPhrases(section, 'turn_fillers', code)
  return {
    ...(speechFillers && { speechFillers }),
    ...(functionFillers && { functionFillers }),
    ...(turnFillers && { turnFillers }),
  }
}

/**
 * Reads `multilingual`. The first language is `multi`: the recogniser follows the caller, beginning with
 * `start_language`. The others have the voice for each language that the caller may speak.
 */
const readMultilingual = (section: Section): Languages => {
  const voices = new Map<string, Pick<AgentLanguage, 'voice' | 'voiceSettings'>>()
  for (const each of section.sections('languages', maxLanguages)) {
    const voice = voiceOf(each)
    const voiceSettings = settingsOf(each)
    const code = each.text('language', 'code') ?? 'default'
    voices.set(code, { ...(voice && { voice }), ...(voiceSettings && { voiceSettings }) })
  }
  const start = section.text('start_language') ?? 'en'
  const others = voices.get('default') ?? {}
  const allowed = section.texts('allowed', maxLanguages) ?? []
  const codes = new Set([start, ...voices.keys(), ...allowed].filter((code) => code !== 'default'))
  const made = [...codes].slice(0, maxLanguages).map((code) => ({
    name: nameOf(code),
    code,
    ...(voices.get(code) ?? others),
    ...multilingualFillers(section, code),
  }))
  const [first = defaultLanguage] = made
  const recogniser =
    section.has('engine') || section.has('model')
      ? `${section.text('engine') ?? 'deepgram'}:${section.text('model') ?? 'nova-3'}`
      : undefined
  for (const key of ['provider', 'min_switch_words'])
    if (section.has(key)) section.warn(key, 'has no effect here')
  section.warnUnknown()
  return {
    languages: [{ ...first, code: 'multi' }, ...made],
    pronounce: [],
    ...(recogniser && { recogniser }),
  }
}

/** Reads `languages`, or `multilingual`, which wins. Without a language it is English. */
export const readLanguages = (document: Section): Languages => {
  const multilingual = document.section('multilingual')
  const sections = document.sections('languages', maxLanguages)
  if (multilingual) return readMultilingual(multilingual)
  const languages = sections.flatMap(readLanguage)
  const pronounce = sections.flatMap((section) => readRewrites(section))
  return { languages: languages.length > 0 ? languages : [defaultLanguage], pronounce }
}

/** Reads `pronounce` of a document or of a language: `[{replace, with, ignore_case}]`. */
export const readRewrites = (section: Section): readonly AgentRewrite[] =>
  section.sections('pronounce', maxRewrites).flatMap((rewrite) => {
    const replace = rewrite.text('replace')
    const written = rewrite.text('with') ?? ''
    const ignoreCase = rewrite.boolean('ignore_case') ?? true
    if (replace !== undefined) return { replace, with: written, ignoreCase }
    section.findings.warn(rewrite.path, 'must have a text in replace')
    return []
  })

/** Words for the recogniser, and corrections of recognised text. */
export interface Hints {
  readonly hints: readonly string[]
  readonly corrections: readonly AgentRewrite[]
}

/**
 * Reads hints: texts, or objects `{hint, pattern, replace, ignore_case}` whose pattern corrects recognised
 * text. `items` is a list, or one hint.
 */
export const readHints = (items: readonly unknown[], section: Section, key: string): Hints => {
  const hints: string[] = []
  const corrections: AgentRewrite[] = []
  for (const [index, item] of items.slice(0, maxHints).entries()) {
    const path = `${section.at(key)}/${index}`
    const hint = textOf(item)
    if (hint !== undefined) hints.push(hint)
    else if (isObject(item)) {
      const each = new Section(item, path, section.findings)
      const word = each.text('hint')
      const pattern = each.text('pattern')
      const replace = each.text('replace')
      if (word !== undefined) hints.push(word)
      if (pattern !== undefined && replace !== undefined)
        corrections.push({
          replace: pattern,
          with: replace,
          ignoreCase: each.boolean('ignore_case') ?? false,
          isPattern: true,
        })
      else if (word === undefined) section.findings.warn(path, 'must have a hint, or a pattern with replace')
    } else section.findings.warn(path, 'must be a text or an object')
  }
  return { hints: hints.map((each) => each.trim()).filter(Boolean), corrections }
}

/** Reads `hints` of a document. */
export const readDocumentHints = (document: Section): Hints => {
  const value = document.get('hints')
  const items = typeof value === 'string' ? value.split(',') : document.list('hints', maxHints)
  return readHints(items, document, 'hints')
}
