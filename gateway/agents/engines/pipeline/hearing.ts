import { VoiceActivityDetector } from '../../../../media/rtp/voice-activity.ts'
import type {
  AgentRecogniser,
  AgentRecognition,
  AgentRecognitionListener,
  AgentRecognitionRequest,
  AgentTranscript,
} from '../../recognisers/recogniser.ts'
import type { EngineError } from '../../streaming/engine-error.ts'

/** Events of a {@link Hearing}. Nothing follows {@link onFailure}. */
export interface HearingEvents {
  onTranscript(transcript: AgentTranscript): void
  /** See `AgentRecognitionListener.onLanguage`. */
  onLanguage(language: string): void
  onTurn(state: 'began' | 'eager' | 'resumed' | 'ended'): void
  /** A recognition failed and was replaced: by the same recogniser, or the one after it. */
  onReplaced(name: string, error: EngineError): void
  /** The recogniser of a name cannot change to a language. */
  onLanguageKept(name: string, language: string): void
  /** Every recogniser has failed. */
  onFailure(error: EngineError): void
}

/** Number of voiced frames (20 ms) that begin the voice, and of others that end it. */
const voicedFrames = 3
const silentFrames = 10
/**
 * Number of frames between two openings for changed requests. Each opens a connection: a handler that changes
 * the language with each message would open countless ones.
 */
const changeFrames = 25
/** Most frames after the end of the voice in which a recognition, or one by files, still gives its words. */
const wordsFrames = 100
const fileWordsFrames = 400
/** Number of frames after a final text, and after the voice, in which a stream may give more of the words. */
const quietFrames = 15

/**
 * Hearing of one caller by the first of several recognisers that works. A recognition that fails is opened
 * again once; after that, the next recogniser takes over.
 */
export class Hearing {
  readonly #recognisers: readonly AgentRecogniser[]
  readonly #events: HearingEvents
  readonly #detector = new VoiceActivityDetector()
  #request: AgentRecognitionRequest
  #recognition: AgentRecognition | undefined
  #at = 0
  #isSecondTry = false
  #isVoiced = false
  /** Whether the recognition is opened again in the next silence, as the request has changed. */
  #isStale = false
  /** Number of frames since the last opening for a changed request. */
  #sinceChange = changeFrames
  /** Number of ends of the voice whose final text has not come; a stream gives one text for all. */
  #owed = 0
  /** Number of frames since the last end of the voice, and since the last final text. */
  #sinceVoice = Number.POSITIVE_INFINITY
  #sinceFinal = Number.POSITIVE_INFINITY
  /** Number of silent frames since the request has changed. Noise without words begins no wait anew. */
  #waited = 0
  #run = 0
  #isOver = false

  constructor(
    recognisers: readonly AgentRecogniser[],
    request: AgentRecognitionRequest,
    events: HearingEvents,
  ) {
    this.#recognisers = recognisers
    this.#request = request
    this.#events = events
  }

  /** Opens the recognition. */
  open(): void {
    if (this.#isOver) return
    this.#isStale = false
    this.#owed = 0
    this.#sinceVoice = Number.POSITIVE_INFINITY
    this.#sinceFinal = Number.POSITIVE_INFINITY
    this.#waited = 0
    this.#recognition?.close()
    let isCurrent = true
    const recognition = this.#recognisers[this.#at]!.open(
      this.#request,
      this.#listener(
        () => isCurrent && !this.#isOver,
        (error) => this.#failed(error),
      ),
    )
    this.#recognition = {
      write: (samples) => recognition.write(samples),
      voice: (isVoiced) => recognition.voice(isVoiced),
      close: () => {
        isCurrent = false
        recognition.close()
      },
    }
    if (this.#isVoiced) recognition.voice(true)
  }

  /** Takes 20 ms of the caller's audio. */
  write(samples: Int16Array): void {
    if (this.#isOver) return
    this.#detect(samples)
    this.#recognition?.write(samples)
  }

  /**
   * Changes language, hints and silence, as soon as the caller is silent and the last words have come, and
   * 500 ms after the change before. A language brings its `others`.
   */
  change(change: Partial<AgentRecognitionRequest>): void {
    const { others, ...former } = this.#request
    const isKept = others !== undefined && change.language === undefined
    const request = { ...former, ...(isKept && { others }), ...change }
    if (JSON.stringify(request) === JSON.stringify(this.#request)) return
    this.#checkLanguage(request.language)
    this.#request = request
    this.#isStale = true
    this.#renew()
  }

  /**
   * Opens the recognition for a changed request, in a silence. Words that are still to come would be lost.
   */
  #renew(): void {
    if (!this.#isStale || this.#isVoiced || this.#areWordsDue || this.#sinceChange < changeFrames) return
    this.#sinceChange = 0
    this.open()
  }

  #checkLanguage(language: string | undefined): void {
    const recogniser = this.#recognisers[this.#at]
    if (language !== undefined && language !== this.#request.language && recogniser?.hasOwnLanguage)
      this.#events.onLanguageKept(recogniser.name, language)
  }

  /** Opens the recognition again, as it gives no text. Without effect if it gives none before the end. */
  revive(): void {
    if (this.#isStreaming) this.open()
  }

  /** Ends the hearing. Idempotent. */
  close(): void {
    this.#isOver = true
    this.#recognition?.close()
  }

  #listener(isCurrent: () => boolean, onFailure: (error: EngineError) => void): AgentRecognitionListener {
    return {
      onTranscript: (transcript) => {
        if (!isCurrent()) return
        this.#isSecondTry = false
        if (transcript.isFinal) this.#wordsCame()
        this.#events.onTranscript(transcript)
      },
      onLanguage: (language) => {
        if (isCurrent()) this.#events.onLanguage(language)
      },
      onTurn: (state) => {
        if (isCurrent()) this.#events.onTurn(state)
      },
      onFailure: (error) => {
        if (isCurrent()) onFailure(error)
      },
    }
  }

  #failed(error: EngineError): void {
    const canHelp = error.kind !== 'unauthorised' && error.kind !== 'refused'
    if (canHelp && !this.#isSecondTry) this.#isSecondTry = true
    else {
      this.#at++
      this.#isSecondTry = false
    }
    const next = this.#recognisers[this.#at]
    if (!next) {
      this.close()
      this.#events.onFailure(error)
      return
    }
    this.#events.onReplaced(next.name, error)
    this.open()
  }

  get #isStreaming(): boolean {
    return this.#recognisers[this.#at]?.isStreaming ?? false
  }

  /** Number of frames after the voice in which its words may come. */
  get #longest(): number {
    return this.#isStreaming ? wordsFrames : fileWordsFrames
  }

  /** Whether words of the last voice are awaited. */
  get #areWordsDue(): boolean {
    if (this.#waited >= this.#longest) return false
    if (this.#owed > 0 && this.#sinceVoice < this.#longest) return true
    // A stream may divide the words into several final texts.
    return this.#isStreaming && Math.min(this.#sinceVoice, this.#sinceFinal) < quietFrames
  }

  #wordsCame(): void {
    this.#owed = this.#isStreaming ? 0 : Math.max(0, this.#owed - 1)
    this.#sinceFinal = 0
  }

  #voiceEnded(): void {
    // A stream may give the final text before the silence is long enough to end the voice.
    const isSaid = this.#isStreaming && this.#sinceFinal <= silentFrames
    const former = this.#isStreaming || this.#sinceVoice >= this.#longest ? 0 : this.#owed
    this.#owed = isSaid ? 0 : former + 1
    this.#sinceVoice = 0
  }

  #detect(samples: Int16Array): void {
    this.#sinceChange++
    this.#sinceVoice++
    this.#sinceFinal++
    if (this.#isStale && !this.#isVoiced) this.#waited++
    this.#follow(samples)
    this.#renew()
  }

  /** Follows the voice by its level. */
  #follow(samples: Int16Array): void {
    const isVoiced = this.#detector.update(samples)
    this.#run = isVoiced === this.#isVoiced ? 0 : this.#run + 1
    if (this.#run < (isVoiced ? voicedFrames : silentFrames)) return
    this.#run = 0
    this.#isVoiced = isVoiced
    if (!isVoiced) this.#voiceEnded()
    this.#recognition?.voice(isVoiced)
  }
}
