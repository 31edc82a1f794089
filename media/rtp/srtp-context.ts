import type { SrtpKeys, SrtpSuite } from '../types.ts'
import { SrtpReceiver, SrtpSender } from './srtp.ts'

/** Both directions of one session's SRTP, after an offer and its answer. */
export interface SrtpContext {
  readonly keys: SrtpKeys
  readonly sender: SrtpSender
  readonly receiver: SrtpReceiver
}

/** Keys of ours whose counters are remembered: branches of a fork choose among those of one offer, and may change places. */
const MOST_SENDERS = 8

const same = (a: Uint8Array, b: Uint8Array): boolean => Buffer.compare(a, b) === 0

/**
 * The contexts of one session, through all of its offers and answers. A direction whose key stays goes on as it was: a hold of any length
 * then loses neither the roll-over counter nor the memory of packets already taken, which a replay would want. A key of ours that comes
 * back, from plain RTP or another key, goes on as well: no number is used twice under it. A new key of ours has a new context, with a
 * roll-over counter of zero (RFC 4568 section 7.1.4); it is no re-keying within one, which would keep the counter (RFC 3711 section 3.3.1).
 * What the far side does with its counter then is found out by {@link SrtpReceiver}.
 */
export class SrtpContexts {
  #last: SrtpContext | undefined
  #senders = new Map<string, SrtpSender>()

  /** The context for the keys of the next description. */
  next(keys: SrtpKeys): SrtpContext {
    const { suite, sendKey, receiveKey } = keys
    const last = this.#last
    const stays = last?.keys.suite === suite && same(last.keys.receiveKey, receiveKey)
    const receiver = stays ? last.receiver : new SrtpReceiver(suite, receiveKey, last?.receiver)
    this.#last = { keys, sender: this.#sender(suite, sendKey), receiver }
    return this.#last
  }

  #sender(suite: SrtpSuite, key: Uint8Array): SrtpSender {
    const name = `${suite} ${Buffer.from(key).toString('base64')}`
    const sender = this.#senders.get(name) ?? new SrtpSender(suite, key)
    // The one that was used longest ago stands first.
    this.#senders.delete(name)
    this.#senders.set(name, sender)
    if (this.#senders.size > MOST_SENDERS) this.#senders.delete(this.#senders.keys().next().value as string)
    return sender
  }
}
