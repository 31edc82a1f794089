/**
 * Actions of a call: options, results, and the interpretation of the gateway's events. Times are in seconds.
 */
import { type Action, type ActionCall, Doing, failure, type Outcome } from './actions.ts'
import { type Sound, soundsToWire } from './sounds.ts'
import { numberOf, textOf, toWire, type Values, valuesOf } from './wire.ts'

/** Options of playback. */
export interface PlayOptions {
  /** −40 … 40 dB; default 0. */
  readonly volume?: number
}

/** Running playback. It rejects if a sound cannot be fetched or decoded. */
export type Playback = Action<void> & {
  pause(): Promise<void>
  resume(): Promise<void>
  /** −40 … 40 dB. */
  setVolume(db: number): Promise<void>
}

/** Options of a recording. */
export interface RecordOptions {
  /** Default `wav`. */
  readonly format?: 'wav' | 'mp3'
  /** Recorded direction: from the caller (`speak`, the default), to the caller (`listen`), or both mixed. */
  readonly direction?: 'speak' | 'listen' | 'both'
  /** Whether to record both directions as left (from the caller) and right channel. Default false. */
  readonly stereo?: boolean
  /** Whether to play a tone before the recording. Default false. */
  readonly beep?: boolean
  /** Maximum silence at the start; 0 for no limit; default 5. */
  readonly initialTimeout?: number
  /** Silence that ends the recording; 0 for no limit; default 1. */
  readonly endSilenceTimeout?: number
  /** Digits that end the recording; default `#*`. */
  readonly terminators?: string
}

/** Finished recording. */
export interface Recorded {
  /** URL of the recording, valid for a limited time. */
  readonly url: string
  /** Duration in seconds. */
  readonly duration: number
  /** Size in bytes. */
  readonly size: number
}

/** Running recording. It rejects if it contains only silence, or cannot be written. */
export type Recording = Action<Recorded> & {
  /** `silence` (default) records silence during the pause, `skip` leaves the pause out. */
  pause(how?: 'skip' | 'silence'): Promise<void>
  resume(): Promise<void>
}

/** Input to collect; at least one of `digits` and `speech`. */
export interface CollectOptions {
  /** Maximum wait for the first input; default 4. */
  readonly initialTimeout?: number
  readonly digits?: {
    /** Maximum number of digits; default 1. */
    readonly max?: number
    /** Maximum wait between digits; default 5. */
    readonly digitTimeout?: number
    readonly terminators?: string
  }
  readonly speech?: {
    /** Silence that ends the speech; by default the recogniser decides. */
    readonly endSilenceTimeout?: number
    /** Maximum duration of the speech; default 60. */
    readonly speechTimeout?: number
    /** Language tag (BCP 47). */
    readonly language?: string
    readonly hints?: readonly string[]
  }
  /** Receives partial results. */
  readonly onPartial?: (input: Collected) => void
}

/** Digits or speech of the caller; `none` after a time-out or a stop. */
export type Collected =
  | { readonly type: 'digits'; readonly digits: string; readonly terminator: string }
  | { readonly type: 'speech'; readonly text: string; readonly confidence: number }
  | { readonly type: 'none' }

/** Running collection. It rejects if speech could not be recognised. */
export type Collection = Action<Collected>
/** Running collection with a prompt. */
export type Prompt = Collection & {
  /** Sets the volume of the prompt: −40 … 40 dB. */
  setVolume(db: number): Promise<void>
}

/** Options of a detection. */
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

/**
 * Results in order: `MACHINE`, `HUMAN`, `UNKNOWN`, `READY`, `NOT_READY`, `CED`, `CNG` or a digit. Empty after
 * a time-out.
 */
export interface Detected {
  readonly findings: readonly string[]
  /** Whether a beep was detected. */
  readonly beep: boolean
}

/** Audio to tap, and its destination. */
export interface TapOptions {
  /** Tapped direction: from the caller (`speak`, the default), to the caller (`listen`), or both. */
  readonly direction?: 'speak' | 'listen' | 'both'
  readonly device:
    | {
        readonly type: 'ws'
        readonly uri: string
        readonly codec?: 'PCMU' | 'L16'
        /** Sample rate of L16, in Hz. */
        readonly rate?: 8000 | 16000
      }
    | { readonly type: 'rtp'; readonly addr: string; readonly port: number; readonly codec?: 'PCMU' | 'PCMA' }
}

/** Plays sounds one after another. */
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
  const result = {
    url: textOf(params, 'url'),
    duration: numberOf(params, 'duration'),
    size: numberOf(params, 'size'),
  }
  return { result }
}

/** Collects digits or speech of the caller. */
export const collect = (call: ActionCall, options: CollectOptions): Collection => {
  const { onPartial, ...input } = options
  const doing = new Doing<Collected>(call, (_type, params) => collectOutcome(params, onPartial))
  const more = { start_input_timers: true, partial_results: onPartial !== undefined }
  return doing
    .begin('calling.collect', { ...valuesOf(toWire(input)), ...more })
    .with('calling.collect.stop', {})
}

/** Plays sounds and collects input, which ends the playback; see {@link collect}. */
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

/** Detects machines, faxes or digits. */
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

/** Sends the audio of the call to another destination. */
export const tap = (call: ActionCall, { direction = 'speak', device }: TapOptions): Action<void> => {
  const { type, ...params } = device
  const read = (_type: string, event: Values): Outcome<void> | undefined => {
    if (event.state === 'tapping') return { begun: true }
    if (event.state !== 'finished') return undefined
    return event.error === undefined ? { result: undefined } : { error: failure('Tapping', event) }
  }
  return new Doing<void>(call, read)
    .begin('calling.tap', { tap: { type: 'audio', params: { direction } }, device: { type, params } })
    .with('calling.tap.stop', {})
}

/** Sends DTMF digits. */
export const sendDigits = (call: ActionCall, digits: string): Promise<void> => {
  const read = (_type: string, params: Values): Outcome<void> =>
    params.state === 'finished' ? { result: undefined } : { error: failure('Sending digits', params) }
  return new Doing<void>(call, read).begin('calling.send_digits', { digits }).with('', {})
}
