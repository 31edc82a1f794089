import { isJsonObject } from '../../core/json.ts'
import type { AudioFormat } from '../audio-format.ts'
import type { OfferedFunction } from '../dialogue.ts'

/** Fault of a `session.update`: the parameter, and a sentence. */
export interface SessionFault {
  readonly param: string
  readonly message: string
}

/** Detection of turns by the server. */
export interface TurnDetection {
  readonly silenceMs: number
  readonly prefixMs: number
  readonly createsResponse: boolean
  readonly interruptsResponse: boolean
  readonly idleMs?: number
}

/** Silence that ends a turn under `semantic_vad`, by eagerness, in ms. */
const semanticMs: Readonly<Record<string, number>> = { high: 300, medium: 500, auto: 500, low: 1000 }

/** Session of a client: what it set, over the defaults of the server. */
export class SessionSettings {
  readonly isTranscription: boolean
  #session: Record<string, unknown>

  constructor(model: string, id: string, isTranscription: boolean) {
    this.isTranscription = isTranscription
    const input = {
      format: { type: 'audio/pcm', rate: 24_000 },
      transcription: null,
      noise_reduction: null,
      turn_detection: {
        type: 'server_vad',
        threshold: 0.5,
        prefix_padding_ms: 300,
        silence_duration_ms: 500,
        idle_timeout_ms: null,
        create_response: true,
        interrupt_response: true,
      },
    }
    const output = { format: { type: 'audio/pcm', rate: 24_000 }, voice: 'alloy', speed: 1 }
    const conversation = {
      model,
      output_modalities: ['audio'],
      instructions: '',
      tools: [],
      tool_choice: 'auto',
      max_output_tokens: 'inf',
      truncation: 'auto',
      prompt: null,
      tracing: null,
    }
    this.#session = {
      type: isTranscription ? 'transcription' : 'realtime',
      object: isTranscription ? 'realtime.transcription_session' : 'realtime.session',
      id,
      ...(!isTranscription && conversation),
      audio: isTranscription ? { input } : { input, output },
      include: null,
    }
  }

  /** The session as the server shows it. */
  get shown(): Readonly<Record<string, unknown>> {
    return this.#session
  }

  /** Changes what a client gives. Returns the fault if the server would refuse it. */
  update(change: Readonly<Record<string, unknown>>): SessionFault | undefined {
    const type = this.#session.type
    if (change.type !== undefined && change.type !== type)
      return {
        param: 'session.type',
        message: `Passing a realtime session update event to a ${type} session is not allowed.`,
      }
    const known = ['reasoning', 'parallel_tool_calls', 'temperature', ...Object.keys(this.#session)]
    const unknown = Object.keys(change).find((name) => !known.includes(name))
    if (unknown !== undefined)
      return { param: `session.${unknown}`, message: `Unknown parameter: 'session.${unknown}'.` }
    const merged = merge(this.#session, change)
    for (const side of ['input', 'output'] as const) {
      const format = at(merged, 'audio', side, 'format')
      if (format !== undefined && !formatOf(format))
        return {
          param: `session.audio.${side}.format`,
          message: `Invalid value for 'session.audio.${side}.format'.`,
        }
    }
    const modalities = merged.output_modalities
    if (Array.isArray(modalities) && modalities.length !== 1)
      return {
        param: 'session.output_modalities',
        message: "Invalid modalities: ['text'] or ['audio'] expected.",
      }
    this.#session = merged
    return undefined
  }

  get input(): AudioFormat {
    return formatOf(at(this.#session, 'audio', 'input', 'format')) ?? { coding: 'pcm', rate: 24_000 }
  }

  get output(): AudioFormat {
    return formatOf(at(this.#session, 'audio', 'output', 'format')) ?? { coding: 'pcm', rate: 24_000 }
  }

  get isText(): boolean {
    const { output_modalities: modalities } = this.#session
    return Array.isArray(modalities) && modalities.includes('text')
  }

  /** Whether the caller's turns are transcribed. */
  get transcribes(): boolean {
    return this.isTranscription || isJsonObject(at(this.#session, 'audio', 'input', 'transcription'))
  }

  /** Undefined: the client decides. */
  get turnDetection(): TurnDetection | undefined {
    const given = at(this.#session, 'audio', 'input', 'turn_detection')
    if (!isJsonObject(given)) return undefined
    const isSemantic = given.type === 'semantic_vad'
    const silence = isSemantic ? semanticMs[String(given.eagerness ?? 'auto')] : given.silence_duration_ms
    return {
      silenceMs: Number(silence ?? 500),
      prefixMs: isSemantic ? 0 : Number(given.prefix_padding_ms ?? 300),
      createsResponse: given.create_response !== false && !this.isTranscription,
      interruptsResponse: given.interrupt_response !== false,
      ...(typeof given.idle_timeout_ms === 'number' && { idleMs: given.idle_timeout_ms }),
    }
  }

  get functions(): readonly OfferedFunction[] {
    return functionsOf(this.#session.tools)
  }
}

/** Returns the functions of a list of tools in the form of OpenAI Realtime. */
export const functionsOf = (tools: unknown): readonly OfferedFunction[] =>
  (Array.isArray(tools) ? tools : [])
    .filter(isJsonObject)
    .filter(({ type }) => type === undefined || type === 'function')
    .map(({ name, parameters }) => ({ name: String(name), parameters }))

/** Reads a format; undefined if the server does not have it. */
const formatOf = (format: unknown): AudioFormat | undefined => {
  if (!isJsonObject(format)) return undefined
  if (format.type === 'audio/pcmu') return { coding: 'PCMU', rate: 8000 }
  if (format.type === 'audio/pcma') return { coding: 'PCMA', rate: 8000 }
  const isKnown = format.type === 'audio/pcm' && (format.rate === undefined || format.rate === 24_000)
  return isKnown ? { coding: 'pcm', rate: 24_000 } : undefined
}

const at = (value: unknown, ...names: readonly string[]): unknown =>
  names.reduce<unknown>((inner, name) => (isJsonObject(inner) ? inner[name] : undefined), value)

/** Merges objects at any depth, except values whose parts belong together. */
const merge = (
  into: Readonly<Record<string, unknown>>,
  change: Readonly<Record<string, unknown>>,
): Record<string, unknown> => {
  const whole = ['format', 'transcription', 'turn_detection', 'noise_reduction', 'tool_choice']
  const merged = { ...into }
  for (const [name, value] of Object.entries(change)) {
    const present = merged[name]
    const isDeep = isJsonObject(value) && isJsonObject(present) && !whole.includes(name)
    merged[name] = isDeep ? merge(present, value) : value
  }
  return merged
}
