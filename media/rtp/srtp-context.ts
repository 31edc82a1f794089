import type { SrtpKeys } from '../types.ts'
import { SrtpReceiver, SrtpSender } from './srtp.ts'

/** Both directions of one session's SRTP. */
export interface SrtpContext {
  readonly keys: SrtpKeys
  readonly sender: SrtpSender
  readonly receiver: SrtpReceiver
}

const same = (a: Uint8Array, b: Uint8Array): boolean => Buffer.compare(a, b) === 0

/**
 * The context after an offer and its answer. A direction whose key stays goes on as it was: a hold of any length then loses neither
 * the roll-over counter nor the memory of packets already taken, which a replay would want.
 */
export const nextContext = (keys: SrtpKeys, before: SrtpContext | undefined): SrtpContext => {
  const { suite, sendKey, receiveKey } = keys
  const stays = before?.keys.suite === suite
  return {
    keys,
    sender:
      stays && same(before.keys.sendKey, sendKey)
        ? before.sender
        : new SrtpSender(suite, sendKey, before?.sender),
    receiver:
      stays && same(before.keys.receiveKey, receiveKey)
        ? before.receiver
        : new SrtpReceiver(suite, receiveKey, before?.receiver),
  }
}
