import type { Leg } from '../../calls/leg/leg.ts'
import type { SipEndpoint } from '../../directory/model/callers.ts'
import type { NamedDialog } from './refer-to.ts'

/**
 * Facts about the party at the other end of a dialog that decide which other calls it may transfer or
 * replace.
 */
export interface DialogOrigin {
  /** Project of the call. */
  readonly projectId: string
  readonly carrier?: string
  readonly endpoint?: Pick<SipEndpoint, 'id' | 'address' | 'mayDialOut' | 'maxCalls' | 'callsPerSecond'>
  /** Source address of the party's signalling; empty if unknown. */
  readonly source: string
}

/** An established dialog. */
export interface KnownDialog {
  readonly callId: string
  readonly localTag: string
  readonly remoteTag: string
  readonly leg: Leg
  readonly origin: DialogOrigin
}

/** Index of established dialogs by Call-ID and both tags, never by Call-ID alone. */
export class Dialogs {
  #all = new Map<string, KnownDialog>()

  get size(): number {
    return this.#all.size
  }

  /** Adds a dialog. Returns the idempotent function that removes it. */
  add(dialog: KnownDialog): () => void {
    const key = keyOf(dialog.callId, dialog.localTag, dialog.remoteTag)
    this.#all.set(key, dialog)
    return () => {
      if (this.#all.get(key) === dialog) this.#all.delete(key)
    }
  }

  find({ callId, toTag, fromTag }: NamedDialog): KnownDialog | undefined {
    return this.#all.get(keyOf(callId, toTag, fromTag))
  }
}

const keyOf = (...parts: readonly string[]): string => JSON.stringify(parts)

/**
 * Whether two dialogs are of the same party in one project: the same endpoint, else the same carrier, else
 * the same address.
 */
export const isSameOrigin = (a: DialogOrigin, b: DialogOrigin): boolean => {
  if (a.projectId !== b.projectId) return false
  if (a.endpoint || b.endpoint) return a.endpoint?.id === b.endpoint?.id
  if (a.carrier !== undefined || b.carrier !== undefined) return a.carrier === b.carrier
  return a.source !== '' && a.source === b.source
}
