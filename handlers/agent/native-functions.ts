import type { AgentFunction, AgentFunctionResult } from '../verbs.ts'
import type { Json } from './document-types.ts'
import type { Phrases } from './steps.ts'

/** Parts of a session that built-in functions act on. */
export interface NativeTools {
  /** Time zone of the document (IANA). */
  readonly timeZone: string
  /** Returns the time in milliseconds since the epoch. */
  now(): number
  /** Ends the call after the agent's last words. */
  hangup(): void
  /** Resolves after a time in milliseconds, or when the signal fires. */
  wait(ms: number, signal: AbortSignal): Promise<void>
  waitForUser(): void
  /** Changes the silence that ends the caller's turn, in milliseconds. */
  setEndOfSpeech(ms: number): void
  /** Puts the conversation on hold for some seconds at most. */
  pause(seconds: number): void
}

/** Built-in functions that an agent has. */
export interface NativeOptions {
  /** Names that the document switches on. */
  readonly named: readonly string[]
  /** Whether the model can pause the conversation. */
  readonly canPause: boolean
  /** Whether the document switches a function off. */
  readonly isOff: (name: string) => boolean
  /** Phrases by function. */
  readonly fillers: Readonly<Record<string, Phrases>>
}

interface Native {
  readonly description: string
  readonly properties: Readonly<Record<string, Json>>
  run(args: Json, tools: NativeTools, signal: AbortSignal): Promise<AgentFunctionResult> | AgentFunctionResult
}

const integer = (description: string, minimum: number, maximum: number): Json => ({
  type: 'integer',
  description,
  minimum,
  maximum,
})

const natives: Readonly<Record<string, Native>> = {
  hangup: {
    description: 'Ends the call. Say goodbye in the same answer, before this function.',
    properties: {},
    run: (_, tools) => {
      tools.hangup()
      return { text: 'The call ends.', respond: false }
    },
  },
  check_time: {
    description: 'Returns the present date and time.',
    properties: { time_zone: { type: 'string', description: 'Time zone, such as Europe/Berlin.' } },
    run: ({ time_zone }, { timeZone, now }) => {
      const zone = typeof time_zone === 'string' && time_zone.trim() !== '' ? time_zone.trim() : timeZone
      return { text: timeIn(zone, now()) ?? `There is no time zone ${zone.slice(0, 64)}.` }
    },
  },
  wait_seconds: {
    description: 'Waits in silence, for instance while the caller looks for something.',
    properties: { seconds: integer('Seconds to wait.', 1, 60) },
    run: async ({ seconds }, tools, signal) => {
      const wait = clamp(seconds, 1, 60, 5)
      await tools.wait(wait * 1000, signal)
      return { text: `${wait} seconds have passed.` }
    },
  },
  wait_for_user: {
    description: 'Waits in silence until the caller speaks.',
    properties: {},
    run: (_, tools) => {
      tools.waitForUser()
      return { text: 'Waiting for the caller.', respond: false }
    },
  },
  adjust_response_latency: {
    description:
      'Changes the silence after which the caller is answered: longer for a caller who pauses, shorter for ' +
      'one who wants quick answers.',
    properties: { milliseconds: integer('Silence in milliseconds.', 250, 10_000) },
    run: ({ milliseconds }, tools) => {
      const ms = clamp(milliseconds, 250, 10_000, 700)
      tools.setEndOfSpeech(ms)
      return { text: `The caller is answered after ${ms} milliseconds of silence.` }
    },
  },
  pause_conversation: {
    description: 'Puts the conversation on hold, for instance while the caller talks to another person.',
    properties: { seconds: integer('Longest hold in seconds.', 1, 900) },
    run: ({ seconds }, tools) => {
      tools.pause(clamp(seconds, 1, 900, 300))
      return { text: 'The conversation is on hold.', respond: false }
    },
  },
}

/** Names of the built-in functions, which a document can switch on. */
export const nativeNames: ReadonlySet<string> = new Set(Object.keys(natives))

/** Returns the built-in functions that are on. `hangup` always is, unless the document switches it off. */
export const nativeFunctions = ({
  named,
  canPause,
  isOff,
  fillers,
}: NativeOptions): readonly AgentFunction[] =>
  Object.entries(natives).flatMap(([name, { description, properties }]) => {
    const isNamed = name === 'hangup' || named.includes(name) || (name === 'pause_conversation' && canPause)
    if (!isNamed || isOff(name)) return []
    const own = Object.hasOwn(fillers, name) ? fillers[name] : undefined
    return [{ name, description, parameters: { type: 'object', properties }, ...(own && { fillers: own }) }]
  })

/** Runs a built-in function; undefined for any other name. */
export const runNative = (
  name: string,
  args: Json,
  tools: NativeTools,
  signal: AbortSignal,
): Promise<AgentFunctionResult> | undefined => {
  const native = Object.hasOwn(natives, name) ? natives[name] : undefined
  return native && Promise.resolve(native.run(args, tools, signal))
}

const clamp = (value: unknown, min: number, max: number, fallback: number): number => {
  const number = typeof value === 'string' && value.trim() !== '' ? Number(value) : value
  if (typeof number !== 'number' || !Number.isFinite(number)) return fallback
  return Math.min(max, Math.max(min, Math.round(number)))
}

/** Returns the time in a zone as a text for the model; undefined for an unknown zone. */
const timeIn = (timeZone: string, now: number): string | undefined => {
  try {
    const options = { dateStyle: 'full', timeStyle: 'long', timeZone } as const
    return new Intl.DateTimeFormat('en-US', options).format(now)
  } catch {
    return undefined
  }
}
