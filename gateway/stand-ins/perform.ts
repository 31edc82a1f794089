import { randomUUID } from 'node:crypto'
import type { Clock } from '../core/clock.ts'
import { argumentsFor, type ChosenAnswer, fillIn } from './dialogue.ts'
import type { Action, ErrorKind, QuirkName } from './script-types.ts'
import type { SoundRate, SoundStore } from './sound-store.ts'

/** Audio and text that an engine speaks. */
export interface Speech {
  readonly text: string
  /** Speed as a multiple of real time; 0: all at once. */
  readonly pace: number
  /** Duration after which nothing more of the speech is sent, in ms. */
  readonly cutMs?: number
  /** Returns the samples. Rejects with an Error if the sound cannot be made. */
  readonly samples: (rate: SoundRate) => Promise<Int16Array>
}

/** Call of a function by an engine. */
export interface ScriptedCall {
  readonly id: string
  readonly name: string
  /** JSON, or broken JSON if the script says so. */
  readonly args: string
  readonly isCut: boolean
}

/** Quirks that are a message of their own. */
export type InjectedQuirk = Extract<QuirkName, 'malformed' | 'huge' | 'unknown'>

/** The part of an engine that carries out the actions of an answer. */
export interface Performer {
  /** Quirks that hold for the rest of the answer or connection. */
  readonly quirks: Set<QuirkName>
  /** Resolves when everything was sent. */
  say(speech: Speech, signal: AbortSignal): Promise<void>
  call(call: ScriptedCall, signal: AbortSignal): Promise<void> | void
  inject(quirk: InjectedQuirk): void
  error(kind: ErrorKind): void
  close(how: number | 'abrupt'): void
  stall(): void
}

/** Means of carrying out an answer. */
export interface Stage {
  readonly clock: Clock
  readonly sounds: SoundStore
  /** Speed of audio if the action names none. */
  readonly pace: number
}

/** Waits, in ms. Resolves at once if the signal aborts. */
export const wait = (clock: Clock, ms: number, signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    if (signal.aborted || ms <= 0) return resolve()
    const stop = () => {
      timer.cancel()
      resolve()
    }
    const timer = clock.after(ms, () => {
      signal.removeEventListener('abort', stop)
      resolve()
    })
    signal.addEventListener('abort', stop, { once: true })
  })

/** Carries out the actions of an answer one after the other, until the signal aborts or an action ends it. */
export const perform = async (
  answer: ChosenAnswer,
  performer: Performer,
  stage: Stage,
  signal: AbortSignal,
): Promise<void> => {
  const said = answer.actions.map((action) =>
    action.kind === 'say' ? speechOf(action, answer, stage) : undefined,
  )
  for (const [at, action] of answer.actions.entries()) {
    if (signal.aborted) return
    const speech = said[at]
    if (speech) await twice(performer, () => performer.say(speech, signal))
    else if (action.kind === 'call') {
      const call = callOf(action, answer)
      if (call) await twice(performer, () => performer.call(call, signal))
    } else if (action.kind === 'after') await wait(stage.clock, action.ms, signal)
    else if (ended(action, performer)) return
  }
}

/** Carries out an action that takes no time. Returns whether the answer ends by it. */
const ended = (action: Action, performer: Performer): boolean => {
  if (action.kind === 'quirk') applyQuirk(action.name, performer)
  if (action.kind === 'error') performer.error(action.error)
  if (action.kind === 'close') performer.close(action.how)
  if (action.kind === 'stall') performer.stall()
  return action.kind !== 'quirk'
}

const applyQuirk = (name: QuirkName, performer: Performer): void => {
  if (name === 'malformed' || name === 'huge' || name === 'unknown') performer.inject(name)
  else performer.quirks.add(name)
}

const twice = async (performer: Performer, run: () => Promise<void> | void): Promise<void> => {
  const isDoubled = performer.quirks.delete('twice')
  await run()
  if (isDoubled) await run()
}

const speechOf = (
  { text, sound, pace, cutMs }: Extract<Action, { kind: 'say' }>,
  { variables }: ChosenAnswer,
  stage: Stage,
): Speech => {
  const filled = fillIn(text, variables)
  return {
    text: filled,
    pace: pace ?? stage.pace,
    samples: (rate) => stage.sounds.samples(sound, filled, rate),
    ...(cutMs !== undefined && { cutMs }),
  }
}

const callOf = (
  { name, args, isCut }: Extract<Action, { kind: 'call' }>,
  { functions, offered, variables }: ChosenAnswer,
): ScriptedCall | undefined => {
  const called = name === undefined ? (offered ?? functions[0]) : functions.find((each) => each.name === name)
  const found = name ?? called?.name
  if (found === undefined) return undefined
  const value = args ?? argumentsFor(called?.parameters, variables.text ?? '')
  const text = fillIn(typeof value === 'string' ? value : JSON.stringify(value), variables)
  return { id: `call_${randomUUID().replaceAll('-', '').slice(0, 24)}`, name: found, args: text, isCut }
}
