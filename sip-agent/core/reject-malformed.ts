import type { App } from '../drachtio/app.ts'
import { SipParseError } from '../message/sip-parse-error.ts'

/** Runs a function, and rejects the frame if the application's message is malformed. */
export const rejectMalformed = (app: App, msgId: string, run: () => void): void => {
  try {
    run()
  } catch (error) {
    if (!(error instanceof SipParseError)) throw error
    app.reject(msgId, `invalid ${error.message}`)
  }
}
