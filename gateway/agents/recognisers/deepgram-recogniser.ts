import type { SteadyClock } from '../../core/clock.ts'
import type { WireMessage } from '../engines/session/engine-socket.ts'
import { kindOfCode } from '../engines/session/failures.ts'
import type { WireFormat } from '../engines/session/wire-audio.ts'
import { numberAt, objectAt, objectsAt, textAt } from '../engines/session/wire-values.ts'
import { EngineError } from '../streaming/engine-error.ts'
import { urlWith } from '../streaming/url-with.ts'
import { primaryLanguage } from '../text/words.ts'
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
    ({ rate, hints, ...spoken }) => {
      const model = options.model ?? 'nova-3'
      return {
        ...common(options, rate),
        url: urlWith(options.url, {
          model,
          ...encodingOf(formatFor(rate)),
          interim_results: true,
          endpointing: endpointingMs,
          smart_format: true,
          language: languageFor(model, spoken),
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
    ({ rate, hints, isSemantic, language, others = [] }) => {
      const spoken = [language ?? 'en', ...others]
      const model = options.model ?? fluxModelFor(spoken)
      return {
        ...common(options, rate),
        // Messages of 80 ms, as the vendor advises.
        frames: 4,
        url: urlWith(options.url, {
          model,
          ...encodingOf(formatFor(rate)),
          eager_eot_threshold: isSemantic ? eagerThreshold : undefined,
          keyterm: limited(hints),
          language_hint:
            isMultilingual(model) && language !== 'multi' ? hintedOf(language, others) : undefined,
        }),
        isReady: ({ type }) => type === 'Connected',
        last: { type: 'CloseStream' },
        read: readTurn,
      }
    },
    clock,
    options.model !== undefined && !isMultilingual(options.model),
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

/** Whether a model of Flux knows several languages. */
const isMultilingual = (model: string): boolean => model.includes('multi')

const fluxModelFor = (languages: readonly string[]): string =>
  languages.every((each) => primaryLanguage(each) === 'en') ? 'flux-general-en' : 'flux-general-multi'

const hintedOf = (language: string | undefined, others: readonly string[]): readonly string[] =>
  language === undefined ? others : [language, ...others]

/** Languages between which nova-3 follows the caller. */
const followed: ReadonlySet<string> = new Set(['en', 'es', 'fr', 'de', 'hi', 'ru', 'pt', 'ja', 'it', 'nl'])

/** Returns `multi` if the caller may speak several languages, and the model can follow all of them. */
const languageFor = (
  model: string,
  { language, others = [] }: Pick<AgentRecognitionRequest, 'language' | 'others'>,
): string | undefined => {
  if (language === undefined || others.length === 0 || !model.startsWith('nova-3')) return language
  return [language, ...others].every((each) => followed.has(primaryLanguage(each))) ? 'multi' : language
}

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
  return {
    text,
    isFinal: message.is_final === true,
    ...(confidence !== undefined && { confidence }),
    ...mainLanguage(best),
  }
}

/** Returns the first of the languages that Deepgram found: that of most words. */
const mainLanguage = ({ languages }: WireMessage): Pick<AgentTranscript, 'language'> => {
  const [language] = Array.isArray(languages) ? languages : []
  return typeof language === 'string' ? { language } : {}
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
      ...mainLanguage(message),
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
    kindOfCode(code, 'server'),
    `the server reported an error${/^[\w-]{1,40}$/.test(code) ? ` (${code})` : ''}`,
  )
}
