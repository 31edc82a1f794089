import type { ReferOptions, ReferResult } from '../../../handlers/verbs.ts'
import type { Call } from '../call/call.ts'
import { verbFailed } from '../leg/failures.ts'

/** Transfers the caller by REFER, answering the call first. The call ends if the transfer succeeds. */
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
  return untilAborted(signal, outcome)
}

/**
 * Waits for work until the signal fires. Unlike `Call.whileUp` it accepts the end of the call as an outcome.
 * A REFER cannot be cancelled.
 */
const untilAborted = async <T>(signal: AbortSignal | undefined, work: Promise<T>): Promise<T> => {
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
