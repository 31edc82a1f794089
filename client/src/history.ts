import type { Subscription } from './conversations.ts'
import { Emitter } from './emitter.ts'
import type { Json } from './frames.ts'
import type { Log } from './log.ts'
import { fetchPage, type Paged } from './paged.ts'
import type { Rest } from './rest.ts'

/**
 * Result of a call. Incoming: `answered`, `missed`, `declined` (here), `answered_elsewhere`, `failed`.
 * Outgoing: `answered`, `declined`, `busy`, `no_answer`, `canceled` (here), `failed`.
 */
export type CallResult =
  | 'answered'
  | 'missed'
  | 'declined'
  | 'busy'
  | 'no_answer'
  | 'canceled'
  | 'answered_elsewhere'
  | 'failed'

/** Ended call of the subscriber, from any device. */
export interface CallRecord {
  readonly id: string
  /** {@link Call.id}, in the page that had the call. */
  readonly call_id: string
  /** `inbound`: the subscriber was called. */
  readonly direction: 'inbound' | 'outbound'
  /** Name of the other party; its number if it has none. */
  readonly name: string
  /** Number, address or SIP URI of the other party, for {@link Client.dial}; `anonymous` if withheld. */
  readonly number: string
  /** Address of the other party; null for telephones. */
  readonly address_id: string | null
  readonly result: CallResult
  /** Error code of the end, such as `not_online`. */
  readonly code: string
  /** ISO 8601, as the next two. */
  readonly started_at: string
  /** Null without an answer. */
  readonly answered_at: string | null
  readonly ended_at: string
  /** Time from the answer to the end, in milliseconds; 0 without an answer. */
  readonly duration_ms: number
}

/** Options of {@link History.getCalls}. */
export interface HistoryOptions {
  /** Only calls with this result. */
  readonly result?: CallResult
  /** Only calls that ended after this time. */
  readonly since?: Date
  /** Number of calls per page, at most 100; default 50. */
  readonly pageSize?: number
}

const path = '/api/fabric/subscriber/calls'
const maxPage = 100

/** Ended calls of the subscriber: `client.history`. Requests reject with `auth` or `http`. */
export class History {
  readonly #rest: Rest
  readonly #changed: Emitter<{ changed: undefined }>

  constructor(rest: Rest, log: Log) {
    this.#rest = rest
    this.#changed = new Emitter((error) => log.error('listener of the call history failed', error))
  }

  /** Returns the calls of all devices, the newest first. Guests have no history (`http`, status 403). */
  getCalls({ result, since, pageSize }: HistoryOptions = {}): Promise<Paged<CallRecord>> {
    return fetchPage(this.#rest, path, { result, ended_after: since?.toISOString(), page_size: pageSize })
  }

  /** Returns the number of missed calls since a time; 100 stands for 100 or more. */
  async countMissed({ since }: { readonly since: Date }): Promise<number> {
    const { data } = await this.getCalls({ result: 'missed', since, pageSize: maxPage })
    return data.length
  }

  /** Calls `listener` after each call that was added to the history. */
  subscribe(listener: () => void): Subscription {
    // Own function for each subscription: the same listener may be added twice and removed once.
    const onChange = () => listener()
    this.#changed.on('changed', onChange)
    return { unsubscribe: () => this.#changed.off('changed', onChange) }
  }

  /** For the client only: handles an event of the server. */
  event(type: string, params: Json): void {
    const isMissed = type === 'events.missed' && params.event_type === 'subscriber.call'
    if (type === 'subscriber.call' || isMissed) this.#changed.emit('changed', undefined)
  }
}
