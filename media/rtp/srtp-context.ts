import type { SrtpKeys, SrtpSuite } from '../types.ts'
import { SrtpReceiver, SrtpSender } from './srtp.ts'

/** SRTP in both directions, as agreed by one offer and answer. */
export interface SrtpContext {
  readonly keys: SrtpKeys
  readonly sender: SrtpSender
  readonly receiver: SrtpReceiver
}

/**
 * Maximum number of local keys whose counters are remembered: branches of a fork choose among the keys of one
 * offer, and may alternate.
 */
const maxSenders = 8

const same = (a: Uint8Array, b: Uint8Array): boolean => Buffer.compare(a, b) === 0

/**
 * SRTP contexts of one session over all its offers and answers. A direction with an unchanged key continues:
 * a hold of any length keeps the roll-over counter and the replay window. A local key that returns also
 * continues, so that no index is used twice under it.
 *
 * A new local key starts a new context with a roll-over counter of zero (RFC 4568 section 7.1.4). It is not
 * re-keying within a context, which would keep the counter (RFC 3711 section 3.3.1). {@link SrtpReceiver}
 * detects which of the two the far side does.
 */
export class SrtpContexts {
  #last: SrtpContext | undefined
  #senders = new Map<string, SrtpSender>()

  /** Returns the context for the keys of the next description. */
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
    // The least recently used sender is first.
    this.#senders.delete(name)
    this.#senders.set(name, sender)
    if (this.#senders.size > maxSenders) this.#senders.delete(this.#senders.keys().next().value as string)
    return sender
  }
}
