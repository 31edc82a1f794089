import { closest } from '../../handlers/common/spelling.ts'
import { type AgentKind, engineKinds, modelKinds, recogniserKinds, voiceKinds } from '../agent-kinds.ts'
import { parseDuration } from '../durations.ts'
import { type Keys, misplaced, type Report } from '../faults.ts'
import type { FileConfig } from '../file-config.ts'

type Agents = FileConfig['agents']
/** Entry of a section, with its keys as in the file. */
type Entry = { readonly kind: string } & Readonly<Record<string, unknown>>

const at = ['agents']
const protocols = { ws: 'a ws or wss', http: 'an http or https' } as const

/** Checks the rules of `agents` beyond the schema. */
export const checkAgents = ({ agents, media }: FileConfig, report: Report): void => {
  const speechVoices = Object.keys(media.speech.voices)
  checkEntries('engines', agents.engines, engineKinds, report)
  checkEntries('recognisers', agents.recognisers, recogniserKinds, report)
  checkEntries('models', agents.models, modelKinds, report)
  checkEntries('voices', agents.voices, voiceKinds, report)
  checkDefault(agents, report)
  for (const [name, engine] of Object.entries(agents.engines)) {
    checkParts(agents, name, engine, report)
    if (engine.kind === 'openai-realtime') checkOutput(engine, [...at, 'engines', name], report)
  }
  for (const [name, voice] of Object.entries(agents.voices)) {
    if (voice.kind === 'media' && voice.voice !== undefined)
      known(
        voice.voice,
        speechVoices,
        'a name of media.speech.voices',
        [...at, 'voices', name, 'voice'],
        report,
      )
  }
  if ('built-in' in agents.voices)
    report([...at, 'voices', 'built-in'], 'must have another name; built-in is the built-in voice', {
      part: 'key',
    })
  checkNames(agents, report)
  checkDetector(agents, report)
  checkSilence(agents, report)
}

/** Checks the keys of each entry by its kind. */
const checkEntries = (
  section: string,
  entries: Readonly<Record<string, Entry>>,
  kinds: Readonly<Record<string, AgentKind>>,
  report: Report,
): void => {
  for (const [name, entry] of Object.entries(entries)) {
    const kind = kinds[entry.kind]
    if (kind) checkEntry(entry, kind, [...at, section, name], report)
  }
}

const checkEntry = (entry: Entry, kind: AgentKind, keys: Keys, report: Report): void => {
  const { protocol, url: hosted, needed, permitted } = kind
  const own = new Set(['kind', 'fallback', ...(protocol ? ['url', 'key'] : []), ...needed, ...permitted])
  for (const key of Object.keys(entry)) {
    if (!own.has(key)) report([...keys, key], `is not permitted if kind is ${entry.kind}`, misplaced)
  }
  for (const [key, values] of Object.entries(kind.values ?? {}))
    if (entry[key] !== undefined && !values.includes(String(entry[key])))
      report([...keys, key], `must be ${values.join(' or ')} if kind is ${entry.kind}`)
  for (const key of needed)
    if (entry[key] === undefined) report(keys, `must have ${key} if kind is ${entry.kind}`, missing)
  if (protocol === undefined) return
  if (entry.signingUrl !== undefined && own.has('signingUrl')) {
    checkSigned(entry, keys, report)
    return
  }
  if (entry.url === undefined && hosted === undefined)
    report(keys, `must have url if kind is ${entry.kind}`, missing)
  if (entry.url === undefined && hosted !== undefined && entry.key === undefined)
    report(keys, `must have key for the hosted service, or the url of another server`, missing)
  if (typeof entry.url === 'string' && !entry.url.toLowerCase().startsWith(protocol))
    report([...keys, 'url'], `must be ${protocols[protocol]} URL if kind is ${entry.kind}`)
}

/** Checks an entry whose server hands out the URL of each session, for the key. */
const checkSigned = ({ url, key }: Entry, keys: Keys, report: Report): void => {
  if (url !== undefined) report([...keys, 'url'], 'is not permitted beside signingUrl', misplaced)
  if (key === undefined) report(keys, 'must have key if there is signingUrl', missing)
}

const missing = { code: 'missing-key' } as const

/** Checks that a server which writes has a voice of `agents.voices`, and one that speaks has its own. */
const checkOutput = (
  { output, voice, voices }: Agents['engines'][string],
  keys: Keys,
  report: Report,
): void => {
  if (output === 'text' && voice !== undefined)
    report([...keys, 'voice'], 'is not permitted if output is text', misplaced)
  if (output !== 'text' && voices !== undefined)
    report([...keys, 'voices'], 'is not permitted unless output is text', misplaced)
}

const checkDefault = ({ default: named, engines }: Agents, report: Report): void => {
  const names = Object.keys(engines)
  if (named !== undefined) known(named, names, 'the name of an engine', [...at, 'default'], report)
  else if (names.length > 1) report(at, 'must have default if there are several engines', missing)
}

const checkParts = (
  agents: Agents,
  name: string,
  { recognisers, models, voices, fallback }: Agents['engines'][string],
  report: Report,
): void => {
  const keys = [...at, 'engines', name]
  const check = (names: readonly string[] | string = [], key: PartKey): void => {
    const all = namesOf(agents, key)
    const listed = typeof names === 'string' ? [names] : names
    listed.forEach((each, i) => {
      const at = typeof names === 'string' ? [...keys, key] : [...keys, key, i]
      known(each, all, `a name of agents.${key}`, at, report)
    })
  }
  check(recognisers, 'recognisers')
  check(models, 'models')
  check(voices, 'voices')
  if (fallback === undefined) return
  known(fallback, Object.keys(agents.engines), 'the name of an engine', [...keys, 'fallback'], report)
  if (leadsTo(name, agents.engines))
    report([...keys, 'fallback'], 'must not lead back to the engine itself', { quote: true })
}

type PartKey = 'recognisers' | 'models' | 'voices'

const namesOf = (agents: Agents, key: PartKey): readonly string[] =>
  key === 'voices' ? ['built-in', ...Object.keys(agents.voices)] : Object.keys(agents[key])

/** Returns whether the fallbacks of an engine lead back to it. */
const leadsTo = (name: string, engines: Agents['engines']): boolean => {
  const seen = new Set<string>()
  let next = engines[name]?.fallback
  while (next !== undefined && next !== name && !seen.has(next)) {
    seen.add(next)
    next = engines[next]?.fallback
  }
  return next === name
}

const checkNames = (agents: Agents, report: Report): void => {
  for (const key of ['models', 'voices', 'recognisers'] as const)
    for (const [document, name] of Object.entries(agents.names[key]))
      known(name, namesOf(agents, key), `a name of agents.${key}`, [...at, 'names', key, document], report)
}

const checkDetector = ({ detector }: Agents, report: Report): void => {
  const { kind, folder, model } = detector
  const keys = [...at, 'detector']
  if (kind === 'silero' && folder === undefined) report(keys, 'must have folder if kind is silero', missing)
  if (kind === 'silero') return
  for (const [key, value] of Object.entries({ folder, model }))
    if (value !== undefined) report([...keys, key], `is not permitted if kind is ${kind}`, misplaced)
}

const checkSilence = ({ silence }: Agents, report: Report): void => {
  const ms = parseDuration(silence.endOfSpeech) ?? 0
  if (ms < 250 || ms > 10_000)
    report([...at, 'silence', 'endOfSpeech'], 'must be from 250ms to 10s', {
      code: 'out-of-range',
      quote: true,
    })
}

/** Reports a name that is not among `names`. */
const known = (name: string, names: readonly string[], what: string, keys: Keys, report: Report): void => {
  if (names.includes(name)) return
  const near = closest(name, names)
  const hint = near && `did you mean \`${near}\`?`
  report(keys, `must be ${what}`, { code: 'unknown-name', hint, quote: true })
}
