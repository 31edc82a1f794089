import type { App } from '../drachtio/app.ts'
import { SipParseError } from '../message/sip-parse-error.ts'

/** Runs a function. If it finds that the application's message is malformed, rejects the frame `msgId`. */
export const rejectMalformed = (app: App, msgId: string, run: () => void): void => {
  try {
    run()
  } catch (error) {
    if (!(error instanceof SipParseError)) throw error
    app.reject(msgId, `invalid ${error.message}`)
  }
}
