import { existsSync } from 'node:fs'
import { basename, dirname, extname, resolve } from 'node:path'
import { ConfigSource } from '../../../config/config-source.ts'
import { readConfigText } from '../../../config/config-text.ts'
import { type Environment, withVariables } from '../../../config/environment.ts'
import { isJsonObject } from '../../core/json.ts'
import { Field } from './field.ts'
import { type Files, fileOf, readStep } from './read-steps.ts'
import type { Expectations, ExpectedCall, FunctionReply, Scenario, Target } from './scenario.ts'

const maxSteps = 500
const defaultSilenceDb = -55
/** Voice of callers, which differs from that of the stand-ins. */
const defaultVoice = 'awb'
const voices = ['awb', 'kal', 'rms', 'slt'] as const

/**
 * Reads a scenario file in YAML or JSON. Variables such as `${NAME}` are replaced from the environment, and
 * paths are relative to the file. Throws ConfigInvalid with all faults, each with its line and key.
 */
export const readScenario = (file: string, env: Environment = withVariables({})): Scenario => {
  const path = resolve(file)
  return readScenarioText(path, readConfigText(path), { env, hasFile: existsSync })
}

/** Surroundings of a scenario: the variables, and whether a file exists. */
export interface ScenarioPlace {
  readonly env: Environment
  readonly hasFile: (path: string) => boolean
}

/** Reads the text of a scenario; `path` is its file. Throws ConfigInvalid as {@link readScenario} does. */
export const readScenarioText = (path: string, text: string, { env, hasFile }: ScenarioPlace): Scenario => {
  // A scenario has no secrets: its faults may show every line.
  const source = new ConfigSource(path, text, env, () => [])
  return source.check((report) => {
    const root = new Field(source.value ?? {}, [], report)
    return scenarioOf(root, { folder: dirname(path), hasFile }, basename(path, extname(path)))
  })
}

const keys = [
  'name',
  'target',
  'from',
  'voice',
  'silence',
  'server',
  'functions',
  'caller',
  'expect',
] as const

const scenarioOf = (root: Field, files: Files, title: string): Scenario => {
  const read = root.mapping(keys)
  const name = read.at('name')
  const from = read.at('from')
  const server = read.at('server')
  const voice = read.at('voice')
  const scenario: Scenario = {
    name: name.isAbsent ? title : name.text(),
    target: targetOf(read.at('target'), files),
    ...(!from.isAbsent && { from: from.quoted(userOf, 'a user of a SIP URI, such as +15550100', '') }),
    voice: voice.isAbsent ? defaultVoice : voice.choice(voices),
    silenceDb: read.at('silence').isAbsent
      ? defaultSilenceDb
      : read.at('silence').parsed(silenceOf, 'a level from -80dB to -20dB', defaultSilenceDb),
    ...(!server.isAbsent && { server: server.parsed(serverOf, 'host:port', { host: '', port: 0 }) }),
    functions: functionsOf(read.at('functions')),
    steps: stepsOf(read.at('caller'), files),
    expect: expectationsOf(read.at('expect')),
  }
  checkReports(scenario, read)
  return scenario
}

/** Reports expectations that need a report, if none can come. */
const checkReports = ({ target, server, functions, expect }: Scenario, root: Field): void => {
  if (target.kind === 'document' || server) return
  const hint = 'set `server`, and send the functions and the report of the document there'
  const needs = (field: Field, isNeeded: boolean): void => {
    if (isNeeded) field.fault('requires `server` for an agent at an address', { part: 'key', hint })
  }
  needs(root.at('functions'), functions.size > 0)
  needs(root.at('expect').at('calls'), expect.calls.length > 0)
  needs(root.at('expect').at('says'), expect.says.length > 0)
  needs(root.at('expect').at('saysNever'), expect.saysNever.length > 0)
}

const userOf = (text: string): string | undefined => (/^[a-zA-Z0-9_.+-]{1,64}$/.test(text) ? text : undefined)

const silenceOf = (text: string): number | undefined => {
  const db = Number(/^(-\d{2}) ?dB$/.exec(text)?.[1])
  return db >= -80 && db <= -20 ? db : undefined
}

const serverOf = (text: string): { host: string; port: number } | undefined => {
  const [, host, port] = /^(\[[0-9a-f:.]{2,64}\]|[^:\s[\]]{1,255}):(\d{1,5})$/i.exec(text) ?? []
  if (host === undefined || Number(port) > 65_535) return undefined
  return { host: host.replace(/^\[|\]$/g, ''), port: Number(port) }
}

const targetOf = (field: Field, files: Files): Target => {
  const read = field.mapping(['address', 'via', 'document', 'config', 'standIns'])
  const address = read.at('address')
  const document = read.at('document')
  const config = read.at('config')
  const via = read.at('via')
  const standIns = read.at('standIns')
  if (isJsonObject(field.value) && address.isAbsent === document.isAbsent)
    field.fault('must have either `document` or `address`', { quote: false })
  if (!address.isAbsent) {
    if (!config.isAbsent) config.fault('is for a document only', { part: 'key', quote: false })
    return {
      kind: 'address',
      uri: address.parsed(uriOf, 'a SIP URI such as sip:agent@127.0.0.1:5060', ''),
      ...(!via.isAbsent && { via: via.parsed(viaOf, 'a SIP URI such as sip:127.0.0.1:5060', '') }),
      ...(!standIns.isAbsent && {
        standIns: standIns.parsed(urlOf, 'the URL of running stand-ins, such as http://127.0.0.1:8089', ''),
      }),
    }
  }
  if (!via.isAbsent) via.fault('is for an address only', { part: 'key', quote: false })
  if (!config.isAbsent && !standIns.isAbsent)
    standIns.fault('is not used beside `config`, which has the engines', { part: 'key', quote: false })
  return {
    kind: 'document',
    file: document.isAbsent ? '' : fileOf(document, files),
    ...(!config.isAbsent && { config: fileOf(config, files) }),
    ...(!standIns.isAbsent && { standIns: fileOf(standIns, files) }),
  }
}

const uriOf = (text: string): string | undefined =>
  /^sips?:[^\s@<>]{1,128}@[^\s@<>]{1,255}$/.test(text) ? text : undefined

const viaOf = (text: string): string | undefined => (/^sips?:[^\s@<>]{1,255}$/.test(text) ? text : undefined)

const urlOf = (text: string): string | undefined =>
  /^https?:\/\//.test(text) && URL.canParse(text) ? text : undefined

const functionsOf = (field: Field): ReadonlyMap<string, FunctionReply> => {
  if (field.isAbsent) return new Map()
  return new Map(field.entries().map((each) => [String(each.keys.at(-1)), replyOf(each)]))
}

const replyOf = (field: Field): FunctionReply => {
  if (typeof field.value === 'string') return { delayMs: 0, body: { response: field.value } }
  const read = field.mapping(['response', 'action', 'post_process', 'delay'])
  const { delay: _, ...body } = read.value as Record<string, unknown>
  return { delayMs: read.at('delay').duration(0, 60_000), body }
}

const stepsOf = (field: Field, files: Files) => {
  const steps = field.list()
  if (Array.isArray(field.value) && steps.length === 0) field.fault('must have at least one step')
  if (steps.length > maxSteps) field.fault(`must have at most ${maxSteps} steps`, { quote: false })
  return steps.slice(0, maxSteps).map((step) => readStep(step, files))
}

const sides = ['agent', 'caller'] as const

const expectationsOf = (field: Field): Expectations => {
  if (field.isAbsent) return { calls: [], says: [], saysNever: [] }
  const read = field.mapping(['gap', 'yield', 'goOn', 'endedBy', 'calls', 'says', 'saysNever'])
  const of = (key: string) => read.at(key).duration(undefined, 60_000)
  const gapMs = of('gap')
  const yieldMs = of('yield')
  const goOnMs = of('goOn')
  const endedBy = read.at('endedBy')
  const calls = read.at('calls')
  return {
    ...(gapMs !== undefined && { gapMs }),
    ...(yieldMs !== undefined && { yieldMs }),
    ...(goOnMs !== undefined && { goOnMs }),
    ...(!endedBy.isAbsent && { endedBy: endedBy.choice(sides) }),
    calls: calls.isAbsent ? [] : calls.list().map(expectedCall),
    says: read.at('says').texts(),
    saysNever: read.at('saysNever').texts(),
  }
}

const countOf = (text: string): number | undefined => (/^\d{1,4}$/.test(text) ? Number(text) : undefined)

const expectedCall = (field: Field): ExpectedCall => {
  if (typeof field.value === 'string') return { name: field.text(), args: {} }
  const read = field.mapping(['function', 'arguments', 'times'])
  const args = read.at('arguments')
  const times = read.at('times')
  if (!args.isAbsent) args.entries()
  return {
    name: read.at('function').text('the name of a function'),
    args: isJsonObject(args.value) ? args.value : {},
    ...(!times.isAbsent && { times: times.parsed(countOf, 'a number of calls, from 0 on', 0) }),
  }
}
