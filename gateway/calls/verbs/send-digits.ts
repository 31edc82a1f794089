import type { Call } from '../call/call.ts'
import { checkDigits } from '../leg/dtmf.ts'

/** Sends digits to the caller in order, and no more once the signal has fired. Answers the call first. */
export const sendDigits = async (call: Call, digits: string, signal?: AbortSignal): Promise<void> => {
  checkDigits(digits)
  await call.openAudio(true, signal)
  // Without a signal the digits cannot be interrupted, so they are sent together: in one message, if the far
  // side receives messages.
  for (const part of signal ? digits : [digits]) {
    signal?.throwIfAborted()
    await call.whileUp(call.caller.sendDigits(part), signal)
  }
}
