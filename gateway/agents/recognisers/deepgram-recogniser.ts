import type { SteadyClock } from '../../core/clock.ts'
import type { WireMessage } from '../engines/session/engine-socket.ts'
import type { WireFormat } from '../engines/session/wire-audio.ts'
import { numberAt, objectAt, objectsAt, textAt } from '../engines/session/wire-values.ts'
import { EngineError } from '../streaming/engine-error.ts'
import { urlWith } from '../streaming/url-with.ts'
import type { AgentRecognitionListener, AgentRecognitionRequest, AgentTranscript } from './recogniser.ts'
import {
  type RecognitionDialect,
  SocketRecogniser,
  type SocketRecogniserOptions,
} from './socket-recogniser.ts'

/** Silence after which Deepgram ends a segment with its final text, in ms. */
const endpointingMs = 300
/** Maximum number of hints, and of their characters together: the URL of the request is limited. */
const maxHints = 50
const maxHintsLength = 2000
/** Confidence that the turn has ended from which an answer is prepared. */
const eagerThreshold = 0.5

/**
 * Recogniser of Deepgram's `/v1/listen` (nova). The end of the caller's voice asks for the final text, so
 * that no silence of Deepgram's own is waited for.
 */
export const deepgramRecogniser = (options: SocketRecogniserOptions, clock: SteadyClock): SocketRecogniser =>
  new SocketRecogniser(
    options,
    ({ rate, language, hints }) => {
      const model = options.model ?? 'nova-3'
      return {
        ...common(options, rate),
        url: urlWith(options.url, {
          model,
          ...encodingOf(formatFor(rate)),
          interim_results: true,
          endpointing: endpointingMs,
          smart_format: true,
          language,
          ...hintsFor(model, hints),
        }),
        final: { type: 'Finalize' },
        keepAlive: { type: 'KeepAlive' },
        last: { type: 'CloseStream' },
        read: listenReader(),
      }
    },
    clock,
  )

/**
 * Recogniser of Deepgram's `/v2/listen` (Flux), which decides about the caller's turns. If the request
 * permits a decision by meaning, probable ends of turns are reported, too.
 */
export const fluxRecogniser = (options: SocketRecogniserOptions, clock: SteadyClock): SocketRecogniser =>
  new SocketRecogniser(
    options,
    ({ rate, language, hints, isSemantic }) => {
      const model = options.model ?? fluxModelFor(language)
      return {
        ...common(options, rate),
        // Messages of 80 ms, as the vendor advises.
        frames: 4,
        url: urlWith(options.url, {
          model,
          ...encodingOf(formatFor(rate)),
          eager_eot_threshold: isSemantic ? eagerThreshold : undefined,
          keyterm: limited(hints),
          language_hint: model.includes('multi') && language !== 'multi' ? language : undefined,
        }),
        isReady: ({ type }) => type === 'Connected',
        last: { type: 'CloseStream' },
        read: readTurn,
      }
    },
    clock,
  )

const common = (
  { key }: SocketRecogniserOptions,
  rate: AgentRecognitionRequest['rate'],
): Pick<RecognitionDialect, 'headers' | 'format' | 'first'> => ({
  headers: key ? { authorization: `Token ${key}` } : {},
  format: formatFor(rate),
  first: [],
})

const formatFor = (rate: AgentRecognitionRequest['rate']): WireFormat => (rate === 8000 ? 'pcmu' : 'pcm16000')

const encodingOf = (format: WireFormat): { readonly encoding: string; readonly sample_rate: number } =>
  format === 'pcmu' ? { encoding: 'mulaw', sample_rate: 8000 } : { encoding: 'linear16', sample_rate: 16_000 }

const fluxModelFor = (language = 'en'): string =>
  language.toLowerCase().split('-')[0] === 'en' ? 'flux-general-en' : 'flux-general-multi'

/** Models before nova-3 have another name for hints. */
const hintsFor = (model: string, hints: readonly string[]): Readonly<Record<string, readonly string[]>> =>
  model.startsWith('nova-3') ? { keyterm: limited(hints) } : { keywords: limited(hints) }

const limited = (hints: readonly string[]): readonly string[] => {
  let length = 0
  return hints.slice(0, maxHints).filter((hint) => {
    length += hint.length
    return length <= maxHintsLength
  })
}

/** Returns the reader of one recognition. An empty final text is passed on if it withdraws a partial one. */
const listenReader = (): RecognitionDialect['read'] => {
  let hasPartial = false
  return (message, listener) => {
    if (message.type === 'Error') return errorOf(message)
    const transcript = message.type === 'Results' ? transcriptOf(message) : undefined
    if (!transcript || (transcript.text === '' && !(transcript.isFinal && hasPartial))) return undefined
    hasPartial = !transcript.isFinal
    listener.onTranscript(transcript)
    return undefined
  }
}

const transcriptOf = (message: WireMessage): AgentTranscript => {
  const [best = {}] = objectsAt(objectAt(message, 'channel'), 'alternatives')
  const text = textAt(best, 'transcript') ?? ''
  const confidence = numberAt(best, 'confidence')
  const [language] = Array.isArray(best.languages) ? best.languages : []
  return {
    text,
    isFinal: message.is_final === true,
    ...(confidence !== undefined && { confidence }),
    ...(typeof language === 'string' && { language }),
  }
}

/** Turn of the caller by the events of Flux. */
const turnOf = {
  StartOfTurn: 'began',
  EagerEndOfTurn: 'eager',
  TurnResumed: 'resumed',
  EndOfTurn: 'ended',
} as const

const readTurn = (message: WireMessage, listener: AgentRecognitionListener): EngineError | undefined => {
  if (message.type === 'Error') return errorOf(message)
  if (message.type !== 'TurnInfo') return undefined
  const event = textAt(message, 'event') ?? ''
  const turn = event in turnOf ? turnOf[event as keyof typeof turnOf] : undefined
  // A turn begins before its text, and ends after it.
  if (turn === 'began' || turn === 'resumed') listener.onTurn(turn)
  const text = textAt(message, 'transcript') ?? ''
  const confidence = meanConfidence(message)
  if (text !== '')
    listener.onTranscript({
      text,
      isFinal: turn === 'ended',
      ...(confidence !== undefined && { confidence }),
    })
  if (turn === 'eager' || turn === 'ended') listener.onTurn(turn)
  return undefined
}

const meanConfidence = (message: WireMessage): number | undefined => {
  const all = objectsAt(message, 'words').flatMap((word) => numberAt(word, 'confidence') ?? [])
  return all.length === 0 ? undefined : all.reduce((sum, each) => sum + each, 0) / all.length
}

const errorOf = (message: WireMessage): EngineError => {
  const code = textAt(message, 'code') ?? ''
  return new EngineError(
    'server',
    `the server reported an error${/^[\w-]{1,40}$/.test(code) ? ` (${code})` : ''}`,
  )
}
