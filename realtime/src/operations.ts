/** What a call can do for a while: options, results, and how the gateway's events are read. Times are seconds. */
import { type Action, type ActionCall, Doing, failure, type Outcome } from './actions.ts'
import { type Sound, soundsToWire } from './sounds.ts'
import { numberOf, textOf, toWire, type Values, valuesOf } from './wire.ts'

/** What can be played with. */
export interface PlayOptions {
  /** −40 … 40 dB; default 0. */
  readonly volume?: number
}

/** Sounds on their way. It rejects when a sound cannot be had. */
export type Playback = Action<void> & {
  pause(): Promise<void>
  resume(): Promise<void>
  /** −40 … 40 dB. */
  setVolume(db: number): Promise<void>
}

/** How to record. */
export interface RecordOptions {
  /** Default `wav`. */
  readonly format?: 'wav' | 'mp3'
  /** What the caller says (`speak`, the default), what it hears (`listen`), or both mixed. */
  readonly direction?: 'speak' | 'listen' | 'both'
  /** The caller on the left, what it hears on the right; default false. */
  readonly stereo?: boolean
  /** A tone before the beginning; default false. */
  readonly beep?: boolean
  /** Ends when nothing is said for so long from the beginning; 0: never; default 5. */
  readonly initialTimeout?: number
  /** Ends after so much silence; 0: never; default 1. */
  readonly endSilenceTimeout?: number
  /** Keys that end it; default `#*`. */
  readonly terminators?: string
}

/** What was recorded. */
export interface Recorded {
  /** Where it can be fetched, for a limited time. */
  readonly url: string
  /** Seconds. */
  readonly duration: number
  /** Bytes. */
  readonly size: number
}

/** A recording under way. It rejects when nothing was said, or nothing could be written. */
export type Recording = Action<Recorded> & {
  /** `silence` (default) puts silence where the pause is, `skip` leaves it out. */
  pause(how?: 'skip' | 'silence'): Promise<void>
  resume(): Promise<void>
}

/** What to collect; at least one of `digits` and `speech`. */
export interface CollectOptions {
  /** Wait for the first input; default 4. */
  readonly initialTimeout?: number
  readonly digits?: {
    /** Ends after so many; default 1. */
    readonly max?: number
    /** Wait between keys; default 5. */
    readonly digitTimeout?: number
    readonly terminators?: string
  }
  readonly speech?: {
    /** Default: when the recogniser takes it for over. */
    readonly endSilenceTimeout?: number
    /** Longest speech; default 60. */
    readonly speechTimeout?: number
    /** BCP 47. */
    readonly language?: string
    readonly hints?: readonly string[]
  }
  /** Told what there is so far. */
  readonly onPartial?: (input: Collected) => void
}

/** What the caller pressed or said; `none`: nothing in time, or it was stopped. */
export type Collected =
  | { readonly type: 'digits'; readonly digits: string; readonly terminator: string }
  | { readonly type: 'speech'; readonly text: string; readonly confidence: number }
  | { readonly type: 'none' }

/** A collection under way. It rejects when speech could not be understood. */
export type Collection = Action<Collected>
/** A collection with a prompt. */
export type Prompt = Collection & {
  /** Of the prompt: −40 … 40 dB. */
  setVolume(db: number): Promise<void>
}

/** What to detect. */
export type DetectOptions = { readonly timeout?: number } & (
  | {
      readonly type: 'machine'
      readonly initialTimeout?: number
      readonly endSilenceTimeout?: number
      readonly machineReadyTimeout?: number
      readonly machineVoiceThreshold?: number
      readonly machineWordsThreshold?: number
    }
  | { readonly type: 'fax'; readonly tone?: 'CED' | 'CNG' }
  | { readonly type: 'digit'; readonly digits?: string }
)

/** What was found, in order: `MACHINE`, `HUMAN`, `UNKNOWN`, `READY`, `NOT_READY`, `CED`, `CNG` or a key. Empty: nothing in time. */
export interface Detected {
  readonly findings: readonly string[]
  /** A beep was heard. */
  readonly beep: boolean
}

/** What to tap, and who gets it. */
export interface TapOptions {
  /** What the caller says (`speak`, the default), what it hears (`listen`), or both. */
  readonly direction?: 'speak' | 'listen' | 'both'
  readonly device:
    | {
        readonly type: 'ws'
        readonly uri: string
        readonly codec?: 'PCMU' | 'L16'
        /** In Hz; of L16. */
        readonly rate?: 8000 | 16000
      }
    | { readonly type: 'rtp'; readonly addr: string; readonly port: number; readonly codec?: 'PCMU' | 'PCMA' }
}

/** Plays sounds, one after the other. */
export const play = (call: ActionCall, sounds: readonly Sound[], { volume }: PlayOptions): Playback => {
  const doing = new Doing<void>(call, (type, params) =>
    type === 'play' ? playOutcome(params) : undefined,
  ).begin('calling.play', { play: soundsToWire(sounds), ...(volume !== undefined && { volume }) })
  return doing.with('calling.play.stop', {
    pause: () => doing.tell('calling.play.pause'),
    resume: () => doing.tell('calling.play.resume'),
    setVolume: (db: number) => doing.tell('calling.play.volume', { volume: db }),
  })
}

const playOutcome = (params: Values): Outcome<void> | undefined => {
  if (params.state === 'playing') return { begun: true }
  if (params.state === 'finished') return { result: undefined }
  return params.state === 'error' ? { error: failure('Playing', params) } : undefined
}

/** Records the call. */
export const record = (call: ActionCall, options: RecordOptions): Recording => {
  const doing = new Doing<Recorded>(call, (_type, params) => recordOutcome(params)).begin('calling.record', {
    record: { audio: toWire(options) },
  })
  return doing.with('calling.record.stop', {
    pause: (how: 'skip' | 'silence' = 'silence') => doing.tell('calling.record.pause', { behavior: how }),
    resume: () => doing.tell('calling.record.resume'),
  })
}

const recordOutcome = (params: Values): Outcome<Recorded> | undefined => {
  if (params.state === 'recording') return { begun: true }
  if (params.state === 'no_input') return { error: failure('Recording', params) }
  if (params.state !== 'finished') return undefined
  const [url, duration, size] = [
    textOf(params, 'url'),
    numberOf(params, 'duration'),
    numberOf(params, 'size'),
  ]
  return { result: { url, duration, size } }
}

/** Collects what the caller presses or says. */
export const collect = (call: ActionCall, options: CollectOptions): Collection => {
  const { onPartial, ...input } = options
  const doing = new Doing<Collected>(call, (_type, params) => collectOutcome(params, onPartial))
  const more = { start_input_timers: true, partial_results: onPartial !== undefined }
  return doing
    .begin('calling.collect', { ...valuesOf(toWire(input)), ...more })
    .with('calling.collect.stop', {})
}

/** As {@link collect}, after something is played; input ends that. */
export const prompt = (
  call: ActionCall,
  sounds: readonly Sound[],
  { volume, onPartial, ...input }: CollectOptions & PlayOptions,
): Prompt => {
  const read = (type: string, params: Values): Outcome<Collected> | undefined => {
    if (type === 'collect') return collectOutcome(params, onPartial)
    return params.state === 'playing' ? { begun: true } : undefined
  }
  const doing = new Doing<Collected>(call, read, `${crypto.randomUUID()}.prompt`)
  doing.begin('calling.play_and_collect', {
    play: soundsToWire(sounds),
    collect: { ...valuesOf(toWire(input)), partial_results: onPartial !== undefined },
    ...(volume !== undefined && { volume }),
  })
  return doing.with('calling.play_and_collect.stop', {
    setVolume: (db: number) => doing.tell('calling.play_and_collect.volume', { volume: db }),
  })
}

const collectOutcome = (
  params: Values,
  onPartial: CollectOptions['onPartial'],
): Outcome<Collected> | undefined => {
  const result = valuesOf(params.result)
  if (params.state === 'finished')
    return result.type === 'error'
      ? { error: failure('Collecting', valuesOf(result.params)) }
      : { result: collected(result) }
  if (params.final === false) onPartial?.(collected(result))
  return undefined
}

const collected = ({ type, params }: Values): Collected => {
  const given = valuesOf(params)
  if (type === 'digit')
    return { type: 'digits', digits: textOf(given, 'digits'), terminator: textOf(given, 'terminator') }
  if (type === 'speech')
    return { type: 'speech', text: textOf(given, 'text'), confidence: numberOf(given, 'confidence') }
  return { type: 'none' }
}

/** Tells machines, faxes and keys. */
export const detect = (call: ActionCall, { timeout, type, ...options }: DetectOptions): Action<Detected> => {
  const findings: string[] = []
  let beep = false
  const read = (_type: string, params: Values): Outcome<Detected> | undefined => {
    const found = valuesOf(valuesOf(params.detect).params)
    if (found.event === 'finished') return { result: { findings, beep } }
    if (found.event === 'error') return { error: failure('Detecting', params) }
    findings.push(textOf(found, 'event'))
    beep ||= found.beep === true
    return { begun: true }
  }
  return new Doing<Detected>(call, read)
    .begin('calling.detect', {
      detect: { type, params: toWire(options) },
      ...(timeout !== undefined && { timeout }),
    })
    .with('calling.detect.stop', {})
}

/** Gives the audio of the call to somebody else. */
export const tap = (call: ActionCall, { direction = 'speak', device }: TapOptions): Action<void> => {
  const { type, ...params } = device
  const read = (_type: string, told: Values): Outcome<void> | undefined => {
    if (told.state === 'tapping') return { begun: true }
    if (told.state !== 'finished') return undefined
    return told.error === undefined ? { result: undefined } : { error: failure('Tapping', told) }
  }
  return new Doing<void>(call, read)
    .begin('calling.tap', { tap: { type: 'audio', params: { direction } }, device: { type, params } })
    .with('calling.tap.stop', {})
}

/** Presses keys. */
export const sendDigits = (call: ActionCall, digits: string): Promise<void> => {
  const read = (_type: string, params: Values): Outcome<void> =>
    params.state === 'finished' ? { result: undefined } : { error: failure('Sending digits', params) }
  return new Doing<void>(call, read).begin('calling.send_digits', { digits }).with('', {})
}
