import { CallEnded, type EchoOptions } from '../../../handlers/verbs.ts'
import { encodedRate } from '../../../media/rtp/encoding.ts'
import type { Call } from '../call/call.ts'

/**
 * Runs `CallControl.echo`. A sound that is played to the caller during the echo replaces it. `sleep`: waits
 * as `CallControl.sleep` does.
 */
export const echo = async (
  call: Call,
  { timeoutMs, signal }: EchoOptions,
  sleep: (ms: number, signal: AbortSignal | undefined) => Promise<void>,
): Promise<void> => {
  const port = await call.openAudio(true, signal)
  // The verb may have been cancelled while the call was answered.
  if (call.signal.aborted) throw new CallEnded()
  signal?.throwIfAborted()
  const sampleRate = port.codec ? encodedRate(port.codec) : 8000
  const tap = port.tap({ tracks: 'in', sampleRate })
  tap.onFrame(({ samples }) => tap.speak(samples))
  try {
    await sleep(timeoutMs, signal)
  } finally {
    tap.close()
  }
}
