import type { App } from '../drachtio/app.ts'
import { SipParseError } from '../message/sip-parse-error.ts'

/** Turns a fault in what an application wrote into the answer `NOK`. */
export const guard = (app: App, msgId: string, run: () => void): void => {
  try {
    run()
  } catch (error) {
    if (!(error instanceof SipParseError)) throw error
    app.reject(msgId, `invalid ${error.message}`)
  }
}
