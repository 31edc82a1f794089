import { CallEnded, type EchoOptions } from '../../../handlers/verbs.ts'
import { encodedRate } from '../../../media/rtp/encoding.ts'
import type { Clock } from '../../core/clock.ts'
import type { Call } from '../call/call.ts'

/** Runs `CallControl.echo`. A sound that is played to the caller meanwhile replaces the echo. */
export const echo = async (call: Call, { timeoutMs, signal }: EchoOptions, clock: Clock): Promise<void> => {
  const port = await call.openAudio(true, signal)
  // The verb may have been canceled while the call was answered.
  if (call.signal.aborted) throw new CallEnded()
  signal?.throwIfAborted()
  const { promise, resolve } = Promise.withResolvers<void>()
  const sampleRate = port.codec ? encodedRate(port.codec) : 8000
  const tap = port.tap({ tracks: 'in', sampleRate })
  tap.onFrame(({ samples }) => tap.speak(samples))
  const timer = clock.after(timeoutMs, resolve)
  try {
    await call.whileUp(promise, signal)
  } finally {
    timer.cancel()
    tap.close()
  }
}
