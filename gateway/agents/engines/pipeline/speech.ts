import type { PcmRate } from '../../../../media/types.ts'
import type { SteadyClock, Timer } from '../../../core/clock.ts'
import type { EngineError } from '../../streaming/engine-error.ts'
import type { SpeechListener, Utterance } from '../../voices/voice.ts'
import type { DeliverPiece, SoundPieces } from './sound-pieces.ts'

/** Events of an answer's speech. Nothing follows {@link onDone} and {@link onFailure}. */
export interface SpeechEvents {
  onText(item: string, text: string): void
  onAudio(item: string, samples: Int16Array): void
  onItemEnd(item: string): void
  /** Everything was delivered, after {@link Speech.finish}. */
  onDone(): void
  onFailure(error: EngineError): void
}

/** Values and collaborators of a {@link Speech}. */
export interface SpeechDeps {
  /** Id of the answer, with which the ids of its items begin. */
  readonly id: string
  /** Sample rate in Hz. */
  readonly rate: PcmRate
  readonly clock: SteadyClock
  readonly speak: (text: string, listener: SpeechListener) => Utterance
}

/** One piece of text with its audio, an item of the answer. */
interface Piece {
  readonly item: string
  readonly text: string
  readonly speak: DeliverPiece
  /** Audio that waits for the earlier pieces. */
  audio: Int16Array[]
  isComplete: boolean
  utterance?: Utterance
}

/** Number of pieces that are requested at a time: the next one while the former is delivered. */
const maxRequested = 2
/** Lead of the delivered audio, in ms, beyond which no further piece is requested. */
const maxLeadMs = 20_000

/**
 * Speech of one answer: pieces of text, spoken in order by a voice that delivers faster than real time. Until
 * {@link open}, nothing is delivered, and at most two pieces are requested.
 */
export class Speech {
  readonly #deps: SpeechDeps
  readonly #events: SpeechEvents
  #pieces: Piece[] = []
  /** Sound whose next pieces are still to come. */
  #sound: SoundPieces | undefined
  #count = 0
  #state: 'closed' | 'open' | 'over' = 'closed'
  #isFinished = false
  #startedAt = 0
  #deliveredMs = 0
  #pause: Timer | undefined

  constructor(deps: SpeechDeps, events: SpeechEvents) {
    this.#deps = deps
    this.#events = events
  }

  /** Adds a piece of text. */
  say(text: string): void {
    if (this.#state === 'over') return
    const piece = this.#add(text, (listener) => this.#deps.speak(text, listener))
    if (this.#state === 'open') this.#events.onText(piece.item, text)
    this.#request()
  }

  /** Adds a sound. */
  play(sound: SoundPieces): void {
    if (this.#state === 'over') return
    this.#sound = sound
    this.#request()
  }

  #add(text: string, speak: DeliverPiece): Piece {
    const item = `${this.#deps.id}.${++this.#count}`
    const piece: Piece = { item, text, speak, audio: [], isComplete: false }
    this.#pieces.push(piece)
    return piece
  }

  /** Adds the next pieces of a sound. */
  #refill(): void {
    while (this.#sound && this.#pieces.length < maxRequested) {
      const next = this.#sound.next()
      if (next) this.#add('', next)
      else this.#sound = undefined
    }
  }

  /** No further piece follows. */
  finish(): void {
    this.#isFinished = true
    this.#deliver()
  }

  /** Begins the delivery. */
  open(): void {
    if (this.#state !== 'closed') return
    this.#state = 'open'
    for (const { item, text } of this.#pieces) {
      if (this.#isCancelled) return
      if (text !== '') this.#events.onText(item, text)
    }
    this.#deliver()
  }

  /** Lets the delivery wait for {@link open} again; only before the first piece. */
  hold(): void {
    if (this.#state === 'open') this.#state = 'closed'
  }

  /** Ends the speech at once. Idempotent. */
  cancel(): void {
    this.#state = 'over'
    this.#pause?.cancel()
    for (const { utterance } of this.#pieces) utterance?.cancel()
    this.#pieces = []
    this.#sound = undefined
  }

  get #isCancelled(): boolean {
    return this.#state === 'over'
  }

  /** Requests the speech of the pieces that are due. */
  #request(): void {
    const waitMs = this.#deliveredMs - maxLeadMs - (this.#deps.clock.uptime() - this.#startedAt)
    this.#pause?.cancel()
    if (this.#deliveredMs > 0 && waitMs > 0) {
      this.#pause = this.#deps.clock.after(waitMs, () => this.#request())
      return
    }
    this.#refill()
    for (const piece of this.#pieces.slice(0, maxRequested))
      piece.utterance ??= piece.speak({
        onAudio: (samples) => {
          piece.audio.push(samples)
          this.#deliver()
        },
        onEnd: () => {
          piece.isComplete = true
          this.#deliver()
        },
        onFailure: (error) => this.#fail(error),
      })
  }

  /** Delivers what is due, in order. */
  #deliver(): void {
    while (this.#state === 'open') {
      const [piece] = this.#pieces
      if (!piece) break
      for (const samples of piece.audio.splice(0)) this.#hand(piece.item, samples)
      if (!piece.isComplete) return
      if (this.#pieces.shift() !== piece) return
      this.#events.onItemEnd(piece.item)
      this.#request()
    }
    if (this.#state !== 'open' || !this.#isFinished || this.#sound) return
    this.#state = 'over'
    this.#events.onDone()
  }

  #hand(item: string, samples: Int16Array): void {
    if (this.#state !== 'open') return
    if (this.#deliveredMs === 0) this.#startedAt = this.#deps.clock.uptime()
    this.#deliveredMs += (samples.length * 1000) / this.#deps.rate
    this.#events.onAudio(item, samples)
  }

  #fail(error: EngineError): void {
    if (this.#state === 'over') return
    this.cancel()
    this.#events.onFailure(error)
  }
}
