import type { CallControl } from '../../../../handlers/verbs.ts'
import type { WaitHook } from '../../../calls/audio/waiting-audio.ts'
import type { HandlerSpec } from '../../../model.ts'

/** Runs a document on a call beside its handler. */
export interface SideDocuments {
  /** Resolves when the document has ended. Rejects as handlers do. */
  runAside(call: CallControl, handler: HandlerSpec): Promise<void>
}

const audioFile = /\.(wav|mp3|ogg)$/i

/**
 * Returns a call's content on hold or as an announcement: the audio at a URL, or the XML document at the URL.
 */
export const contentAt =
  (documents: SideDocuments, url: string, method: 'GET' | 'POST'): WaitHook =>
  (call) =>
    audioFile.test(new URL(url).pathname)
      ? call.play({ sounds: [{ kind: 'audio', url }] })
      : documents.runAside(call, { kind: 'xml', url, method })
