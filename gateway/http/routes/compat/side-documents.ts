import type { CallControl } from '../../../../handlers/verbs.ts'
import type { WaitHook } from '../../../calls/audio/waiting-audio.ts'
import type { HandlerSpec } from '../../../model.ts'

/** Runs a document on a call beside what it does; implemented by `Calls`. */
export interface Asides {
  /** Resolves when the document is at its end; rejects as handlers do. */
  runAside(call: CallControl, handler: HandlerSpec): Promise<void>
}

const audio = /\.(wav|mp3|ogg)$/i

/**
 * Returns the content that a held or announced-to call hears: the audio of a URL, or the XML document there.
 */
export const hearing =
  (asides: Asides, url: string, method: 'GET' | 'POST'): WaitHook =>
  (call) =>
    audio.test(new URL(url).pathname)
      ? call.play({ sounds: [{ kind: 'audio', url }] })
      : asides.runAside(call, { kind: 'xml', url, method })
