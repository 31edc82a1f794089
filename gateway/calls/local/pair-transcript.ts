import type { AgentTranscriptEvent } from '../../../handlers/verbs.ts'
import type { Leg } from '../leg/leg.ts'
import { replacesPartial } from '../leg/transcript-events.ts'

/** Maximum number of events that wait for a connection; later ones are dropped. */
const maxWaiting = 50

/**
 * Passes on the live transcript of a voice agent on one side of a pair of legs to the party on the other
 * side. A party that comes later receives the begin of the conversation, and one that leaves before receives
 * an end. Words from before a connection are only for the party that the pair was made for.
 */
export class PairTranscript {
  /** Leg that earlier words wait for, until any party is connected. */
  #waitsFor: Leg | undefined
  /** Events since the begin of the conversation, which has no party yet. */
  #waiting: AgentTranscriptEvent[] = []
  #party: Leg | undefined
  /** Whether a conversation is in progress. */
  #isRunning = false
  /** Whether the party has received its begin. */
  #hasBegun = false

  /** `waitsFor`: leg that receives the words from before its connection, if it is the first party. */
  constructor(waitsFor?: Leg) {
    this.#waitsFor = waitsFor
  }

  /** Receives an event. `canWait`: whether it may wait for the first party; default true. */
  receive(event: AgentTranscriptEvent, canWait = true): void {
    if (event.type === 'start') this.#isRunning = true
    if (event.type === 'stop') this.#isRunning = false
    if (this.#party) this.#send(event)
    else if (event.type === 'stop') this.#waiting = []
    else if (canWait && this.#waitsFor) this.#wait(event)
  }

  /** Sets the party that is connected; undefined for none. */
  connect(party: Leg | undefined): void {
    if (party === this.#party) return
    if (this.#hasBegun) this.#send({ type: 'stop', params: { reason: 'hangup' } })
    this.#party = party
    if (!party) return
    const waiting = party === this.#waitsFor ? this.#waiting : []
    this.#waiting = []
    this.#waitsFor = undefined
    if (this.#isRunning && !waiting.some(({ type }) => type === 'start'))
      this.#send({ type: 'start', params: {} })
    for (const event of waiting) this.#send(event)
  }

  #wait(event: AgentTranscriptEvent): void {
    if (replacesPartial(event)) this.#waiting = this.#waiting.filter(({ type }) => type !== 'partial_result')
    if (this.#waiting.length < maxWaiting) this.#waiting.push(event)
  }

  #send(event: AgentTranscriptEvent): void {
    if (event.type === 'start') this.#hasBegun = true
    if (event.type === 'stop') this.#hasBegun = false
    this.#party?.transcript(event)
  }
}
