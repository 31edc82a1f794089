import type { AgentTranscriptEvent } from '../../../handlers/verbs.ts'
import type { Leg } from '../leg/leg.ts'

/** Maximum number of events that wait for a connection; later ones are dropped. */
const maxWaiting = 50

/**
 * Passes on the live transcript of a voice agent behind an address to the party that is connected to the
 * address. A party that comes later receives the begin of the conversation first, and one that leaves before
 * receives an end.
 */
export class PairTranscript {
  /** Events since the begin of the conversation, which has no party yet. */
  #waiting: AgentTranscriptEvent[] = []
  #party: Leg | undefined
  /** Whether a conversation is in progress. */
  #isRunning = false
  /** Whether the party has received its begin. */
  #hasBegun = false

  /** Receives an event. `canWait`: whether a party that is connected later may receive it, too. */
  receive(event: AgentTranscriptEvent, canWait: boolean): void {
    if (event.type === 'start') this.#isRunning = true
    if (event.type === 'stop') this.#isRunning = false
    if (this.#party) this.#send(event)
    else if (event.type === 'stop') this.#waiting = []
    else if (canWait && this.#waiting.length < maxWaiting) this.#waiting.push(event)
  }

  /** Sets the party that is connected to the address; undefined for none. */
  connect(party: Leg | undefined): void {
    if (party === this.#party) return
    if (this.#hasBegun) this.#send({ type: 'stop', params: { reason: 'hangup' } })
    this.#party = party
    if (!party) return
    const waiting = this.#waiting
    this.#waiting = []
    if (this.#isRunning && !waiting.some(({ type }) => type === 'start'))
      this.#send({ type: 'start', params: {} })
    for (const event of waiting) this.#send(event)
  }

  #send(event: AgentTranscriptEvent): void {
    if (event.type === 'start') this.#hasBegun = true
    if (event.type === 'stop') this.#hasBegun = false
    this.#party?.transcript(event)
  }
}
