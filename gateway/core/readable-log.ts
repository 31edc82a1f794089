import { prettyFactory } from 'pino-pretty'

/** One log line as pino writes it, parsed. */
type Line = Readonly<Record<string, unknown>>

/** Functions that color a text; without a terminal they return it unchanged. */
type Colors = Readonly<Record<'gray' | 'yellow' | 'red', (text: string) => string>>

/** Settings of readable lines. */
export interface ReadableOptions {
  /** Writes all fields of an event below its line, and the stack of each error. */
  readonly details: boolean
  /** Default: whether standard output is a terminal that shows colors. */
  readonly colorize?: boolean
}

/** Returns a function that converts a line of JSON to readable text, which ends with a line feed. */
export const readableLog = ({ details, colorize }: ReadableOptions): ((json: string) => string) => {
  const format = prettyFactory({
    ...(colorize !== undefined && { colorize }),
    // Default is one color for the whole line.
    customColors: 'message:reset',
    // The message format writes these itself.
    ignore: 'time,level',
    hideObject: !details,
    messageFormat: (line, _key, _label, { colors }) => lineOf(line, colors as unknown as Colors, details),
  })
  return (json) => format(escaped(JSON.parse(json)))
}

/**
 * Matches characters that could forge a line or change a terminal: controls, line separators, and marks that
 * change the direction of text. Callers choose parts of many values.
 */
const unsafe = /[\p{Cc}\u2028\u2029\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu

/** Returns a text with escapes in place of characters that could forge a line or change a terminal. */
export const escapedText = (text: string): string =>
  text.replace(unsafe, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`)

/** Returns a value whose texts have escapes in place of unsafe characters. Stacks keep their line feeds. */
const escaped = (value: unknown, key = ''): unknown => {
  if (typeof value === 'string')
    return key === 'stack' ? value.split('\n').map(escapedText).join('\n') : escapedText(value)
  if (Array.isArray(value)) return value.map((each) => escaped(each))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value).map(([name, each]) => [escapedText(name), escaped(each, name)]),
  )
}

/** Levels of pino with a word in the line; info has none. */
const levels: Readonly<Record<number, readonly [word: string, color: keyof Colors]>> = {
  10: ['trace', 'gray'],
  20: ['debug', 'gray'],
  40: ['warn', 'yellow'],
  50: ['error', 'red'],
  60: ['fatal', 'red'],
}

const errorLevel = 50

const lineOf = (line: Line, colors: Colors, details: boolean): string => {
  const { time, level, msg, event, call } = line
  const [word, color] = levels[Number(level)] ?? []
  const parts = [
    String(msg ?? event ?? ''),
    ...(factsOf[String(event)] ?? genericFacts)(line),
    // The first part of a call's id is enough for `trunkline trace` and `trunkline hangup`.
    ...(typeof call === 'string' ? [colors.gray(call.slice(0, 8))] : []),
  ]
  const stack = !details && Number(level) >= errorLevel ? stackOf(line) : undefined
  const tag = word && color ? `${colors[color](word)} ` : ''
  return [
    `${colors.gray(clockTime(Number(time)))} ${tag}${parts.join('  ')}`,
    ...(stack === undefined ? [] : [colors.gray(indented(stack))]),
  ].join('\n')
}

/** Special formats; all other events have {@link genericFacts}. */
const factsOf: Readonly<Record<string, (line: Line) => readonly string[]>> = {
  'call.ended': ({ from, to, durationMs, legs, code }) => {
    const all = (Array.isArray(legs) ? legs : []) as readonly Line[]
    const heard = all.flatMap(({ audio }) => ((audio as Line | undefined)?.mos as number | undefined) ?? [])
    const codecs = new Set(all.flatMap(({ codec }) => (codec as string | undefined) ?? []))
    const carriers = new Set(all.flatMap(({ carrier }) => (carrier as string | undefined) ?? []))
    return [
      parties(from, to),
      ...[...carriers].map((carrier) => `carrier=${carrier}`),
      duration(Number(durationMs)),
      ...(codecs.size > 0 ? [[...codecs].join('/')] : []),
      // The worst leg tells whether a party had a reason to complain.
      ...(heard.length > 0 ? [`MOS ${Math.min(...heard).toFixed(1)}`] : []),
      ...(code === undefined ? [] : [String(code)]),
    ]
  },
  // The banner after this line has the addresses.
  'gateway.started': ({ startMs }) => [duration(Number(startMs))],
}

/** Fields that a line shows without their names, in this order. */
const plain = [
  'code',
  'method',
  'path',
  'status',
  'ms',
  'reason',
  'detail',
  'why',
  'problem',
  'setting',
  'fault',
  'warning',
]
/** Fields that a line does not show: parts of the line itself, and ids that only a program compares. */
const hidden = new Set(
  ['time', 'level', 'msg', 'event', 'call', 'leg', 'part', 'from', 'to', 'err', 'stack'].concat([
    'request',
    'session',
    'protocol',
    'projectId',
    'sipCallId',
    'q850',
    'nonce',
  ]),
)

/** Returns parties and plain fields first, then other single values with their names, then the error. */
const genericFacts = (line: Line): readonly string[] => {
  const { from, to, err } = line
  const named = Object.keys(line).filter((name) => !hidden.has(name) && !plain.includes(name))
  return [
    ...(from === undefined && to === undefined ? [] : [parties(from, to)]),
    ...plain.flatMap((name) => shown(name, withoutMessage(line[name], line)) ?? []),
    ...named.flatMap((name) => {
      const value = shown(name, line[name])
      return value === undefined ? [] : `${name.replace(/Ms$/, '')}=${value}`
    }),
    ...(typeof err === 'object' && err !== null ? [String((err as Line).message ?? '')] : []),
  ]
}

/** Returns a value; of a text that begins with the message of its line, only the rest. */
const withoutMessage = (value: unknown, { msg }: Line): unknown =>
  typeof value === 'string' && typeof msg === 'string' && msg !== '' && value.startsWith(msg)
    ? value.slice(msg.length).trimStart()
    : value

/** Maximum length of a value in a line; details show all of it. */
const maxValue = 240

/** Returns a single value, or a list of single values, for a line; undefined for others. */
const shown = (name: string, value: unknown): string | undefined => {
  if (typeof value === 'number' && /^ms$|Ms$/.test(name)) return duration(value)
  if (Array.isArray(value) && value.length > 0 && value.every(isSingle)) return cut(value.join(', '))
  return isSingle(value) && value !== '' ? cut(String(value)) : undefined
}

const isSingle = (value: unknown): boolean => ['string', 'number', 'boolean'].includes(typeof value)

const cut = (text: string): string => (text.length > maxValue ? `${text.slice(0, maxValue)}…` : text)

const parties = (from: unknown, to: unknown): string =>
  [from, ...(to === undefined ? [] : ['→', to])]
    .filter((each) => each !== undefined)
    .map((each) => cut(partyOf(String(each))))
    .join(' ')

/** Returns a SIP URI without scheme and parameters; of a telephone number, the number alone. */
export const partyOf = (uri: string): string => {
  const address = uri.replace(/^sips?:/, '').split(/[;?]/, 1)[0] ?? ''
  return /^(\+?\d{5,})@/.exec(address)?.[1] ?? address
}

/** Returns the time of day with seconds, in the time zone of the process. */
export const clockTime = (ms: number): string => {
  const at = new Date(ms)
  return [at.getHours(), at.getMinutes(), at.getSeconds()]
    .map((part) => String(part).padStart(2, '0'))
    .join(':')
}

/** Returns a duration in ms as `12 ms`, `3.3 s`, `4 min 5 s` or `2 h 3 min`. */
export const duration = (ms: number): string => {
  if (ms < 1_000) return `${Math.round(ms)} ms`
  const seconds = Math.floor(ms / 1_000)
  if (seconds < 60) return `${(ms / 1_000).toFixed(1)} s`
  const minutes = Math.floor(seconds / 60)
  if (minutes < 60) return `${minutes} min ${seconds % 60} s`
  return `${Math.floor(minutes / 60)} h ${minutes % 60} min`
}

const stackOf = ({ err }: Line): string | undefined => (err as Line | undefined)?.stack as string | undefined

const indented = (text: string): string =>
  text
    .split('\n')
    .map((each) => `    ${each.trim()}`)
    .join('\n')
