import type { ReferOptions, ReferResult } from '../../../handlers/verbs.ts'
import type { Call } from '../call/call.ts'
import { verbFailed } from '../leg/failures.ts'

/** Asks the caller's telephone to call somebody else, answering the call first. Where it did, the call is over. */
export const refer = async (
  call: Call,
  { to, username, password = '', timeoutMs, signal }: ReferOptions,
): Promise<ReferResult> => {
  const { caller } = call
  if (!caller.canBeReferred) throw verbFailed('refer_unsupported')
  await call.openAudio(true, signal)
  signal?.throwIfAborted()
  const outcome = caller.refer(to, {
    ...(timeoutMs !== undefined && { timeoutMs }),
    ...(username !== undefined && { credentials: { username, password } }),
  })
  return unless(signal, outcome)
}

/** Not `Call.whileUp`: the call's end may be the outcome. A REFER cannot be taken back; nobody waits for it then. */
const unless = async <T>(signal: AbortSignal | undefined, work: Promise<T>): Promise<T> => {
  if (!signal) return work
  const { promise, reject } = Promise.withResolvers<never>()
  const onAbort = () => reject(signal.reason)
  signal.addEventListener('abort', onAbort, { once: true })
  try {
    return await Promise.race([work, promise])
  } finally {
    signal.removeEventListener('abort', onAbort)
  }
}
