import type { Clock } from '../../../core/clock.ts'
import { RestartingTimer } from '../../streaming/restarting-timer.ts'
import type { WireMessage } from '../session/engine-socket.ts'

/** Longest wait for the begin of an answer that was asked for, in ms. */
const maxBeginMs = 10_000
/** Longest wait for the end of an answer that was cancelled, in ms. */
const maxCancelMs = 2_000

interface Asked {
  readonly eventId: string
  readonly response: WireMessage
  isCancelled: boolean
}

/**
 * Order of answers: the server accepts `response.create` only while no answer is under way, and begins
 * answers of its own, too. A request that meets one waits for its end.
 */
export class ResponseQueue {
  readonly #send: (message: WireMessage) => void
  readonly #timer: RestartingTimer
  #waiting: WireMessage[] = []
  #asked: Asked | undefined
  /** The last request that an answer followed; the server may still refuse it. */
  #met: Asked | undefined
  #active: string | undefined
  #count = 0

  constructor(send: (message: WireMessage) => void, clock: Clock) {
    this.#send = send
    this.#timer = new RestartingTimer(clock)
  }

  /** Id of the answer under way. */
  get active(): string | undefined {
    return this.#active
  }

  /** Asks for an answer, now or after the one under way. */
  create(response: WireMessage): void {
    this.#waiting.push(response)
    this.#next()
  }

  /** An answer began. Returns whether it is wanted; else it is cancelled. */
  created(id: string): boolean {
    this.#timer.cancel()
    this.#active = id
    this.#met = this.#asked
    this.#asked = undefined
    if (!this.#met?.isCancelled) return true
    this.#cancelActive()
    return false
  }

  /** An answer ended. */
  done(id: string): void {
    if (id !== this.#active) return
    this.#timer.cancel()
    this.#active = undefined
    this.#next()
  }

  /**
   * The server refused a request. `isBusy`: because an answer is under way; then the request waits for its
   * end.
   */
  refused(eventId: string | undefined, isBusy: boolean): void {
    const asked = [this.#asked, this.#met].find((each) => each && each.eventId === eventId)
    if (!asked) return
    if (asked === this.#asked) {
      this.#timer.cancel()
      this.#asked = undefined
    } else this.#met = undefined
    if (isBusy && !asked.isCancelled) {
      this.#waiting.unshift(asked.response)
      // The answer under way is not known yet; its begin or end is the next event.
      if (this.#active === undefined) this.#timer.restart(maxBeginMs, () => this.#next())
    } else this.#next()
  }

  /** Cancels the answer under way, and all that wait. Returns the id of the one under way. */
  cancel(): string | undefined {
    this.#waiting = []
    if (this.#asked) this.#asked.isCancelled = true
    if (this.#active !== undefined) this.#cancelActive()
    return this.#active
  }

  close(): void {
    this.#timer.cancel()
    this.#waiting = []
  }

  #cancelActive(): void {
    const id = this.#active
    if (id === undefined) return
    this.#send({ type: 'response.cancel', response_id: id })
    this.#timer.restart(maxCancelMs, () => this.done(id))
  }

  #next(): void {
    if (this.#active !== undefined || this.#asked) return
    const response = this.#waiting.shift()
    if (!response) return
    const asked = { eventId: `ask-${++this.#count}`, response, isCancelled: false }
    this.#asked = asked
    this.#send({ type: 'response.create', event_id: asked.eventId, response })
    this.#timer.restart(maxBeginMs, () => this.refused(asked.eventId, false))
  }
}
